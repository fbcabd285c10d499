// The runs of automations: started with what triggers them, claimed and moved on by the job.
import type { Db } from '../../../kernel/db.ts'
import { sql } from '../../../kernel/sql.ts'

/** The address in its normal form. */
export function stopCarts(db: Db, { accountId, email, at }: { accountId: string; email: string; at: Date }) {
  return db.run(sql`
    update automation_runs
       set status = 'stopped', reason = 'purchase', ended_at = ${at}
     where account_id = ${accountId}
       and (email = ${email}
            or contact_id = (select id from contacts where account_id = ${accountId} and email = ${email}))
       and cart_id is not null
       and status in ('running', 'paused')`)
}
