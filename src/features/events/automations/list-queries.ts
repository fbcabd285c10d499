import type { Db } from '../../../kernel/db.ts'
import { int, json, maybe, row, text, time } from '../../../kernel/row.ts'
import { sql, when } from '../../../kernel/sql.ts'

export const runStatuses = ['running', 'paused', 'finished', 'stopped', 'failed'] as const
export type RunStatus = (typeof runStatuses)[number]

export type RunRow = {
  id: string
  automation_id: string | null
  email: string
  cart_id: string | null
  status: RunStatus
  reason: string | null
  next_step: number
  steps: number
  due_at: Date
  started_at: Date
  ended_at: Date | null
}

const Run = row<RunRow>({
  id: text,
  automation_id: maybe(text),
  email: text,
  cart_id: maybe(text),
  status: json(),
  reason: maybe(text),
  next_step: int,
  steps: int,
  due_at: time,
  started_at: time,
  ended_at: maybe(time),
})

export type RunFilter = { automationId?: string; status?: RunStatus; email?: string }

// A run learns that its automation rests or is gone when its turn comes; whoever looks at it is told before.
const isOver = sql`(r.status = 'running' and a.status = 'deleted')`
const shownStatus = sql`
           case when r.status <> 'running' then r.status
                when a.status = 'paused' then 'paused'
                when a.status = 'deleted' then 'stopped'
                else 'running' end`

/** A person's are found by the address that the run began with or that the contact has now. */
export function listRuns(
  db: Db,
  accountId: string,
  { automationId, status, email }: RunFilter,
  page: { after: string | undefined; limit: number },
) {
  return db.many(
    Run,
    sql`
    select r.id, r.automation_id, coalesce(c.email, r.email) as email, r.cart_id, ${shownStatus} as status,
           case when ${isOver} then 'automation deleted' else r.reason end as reason, r.next_step,
           cardinality(r.schedule) as steps, r.due_at, r.started_at,
           case when ${isOver} then a.updated_at else r.ended_at end as ended_at
      from automation_runs r
      left join automations a on a.account_id = r.account_id and a.id = r.automation_id
      left join contacts c on c.account_id = r.account_id and c.id = r.contact_id
     where r.account_id = ${accountId}
       ${when(automationId, (id) => sql`and r.automation_id = ${id}`)}
       ${when(status, (one) => sql`and r.status in (${one}, 'running') and ${shownStatus} = ${one}`)}
       ${when(
         email,
         (one) => sql`
       and (r.email = ${one}
            or r.contact_id = (select id from contacts where account_id = ${accountId} and email = ${one}))`,
       )}
       ${when(page.after, (after) => sql`and r.id < ${after}`)}
     order by r.id desc
     limit ${page.limit}`,
  )
}
