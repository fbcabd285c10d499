import { sql } from '../../../kernel/sql.ts'

/** Of mailboxes m: the day of their first message since they are new. */
export const firstDay = sql`
  case when m.ramp_from is not null
       then (select min(r.day)::text
               from outreach_mailbox_days r
              where r.account_id = m.account_id
                and r.mailbox_id = m.id
                and r.sent > 0
                and r.day >= (m.ramp_from at time zone 'UTC')::date) end`
