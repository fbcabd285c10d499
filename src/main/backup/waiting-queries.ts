// What would leave with the next start although it may have left since the backup was made, and how it is kept back.
import type pg from 'pg'

const isDue = 'due_at <= clock_timestamp()'
// Those of a campaign wait with it.
const messagesDue = `${isDue} and since is null`
const campaignsUnderWay = `status = 'in_process' or status = 'queued' and scheduled_at <= clock_timestamp()`
const automationsAtWork = `status = 'active' and exists (
  select 1 from automation_runs r
   where r.account_id = automations.account_id and r.automation_id = automations.id
     and r.status = 'running' and r.${isDue})`
// Reminders of carts that everybody has: of no automation, so that nobody could resume them.
const cartsDue = `automation_id is null and status = 'running' and ${isDue}`
const sequencesAtWork = `status = 'running' and exists (
  select 1 from outreach_enrollments e
   where e.account_id = outreach_sequences.account_id and e.sequence_id = outreach_sequences.id
     and e.state = 'active' and e.${isDue})`
// Steps wait with their sequence.
const answersWaiting = `state = 'queued' and step is null`

const why = 'It was waiting when the backup was made and may have left since: the restore kept it back.'

// Messages, answers and reminders for good, since nobody can tell which of them has left; the rest until it is resumed.
const waiting = {
  messages: {
    count: `select count(*)::int as n from delivery_queue where ${messagesDue}`,
    keepBack: `
      with gone as (delete from delivery_queue where ${messagesDue} returning account_id, message_id)
      update messages m
         set status = 'cancelled', held_reason = null,
             last_error = jsonb_build_object('code', 'restored', 'smtp_code', null, 'enhanced_code', null,
                                             'message', '${why}')
        from gone
       where m.account_id = gone.account_id and m.id = gone.message_id`,
  },
  sms: {
    count: `select count(*)::int as n from sms_messages where ${isDue}`,
    keepBack: `update sms_messages set status = 'failed', due_at = null, last_error = '${why}' where ${isDue}`,
  },
  answers: {
    count: `select count(*)::int as n from outreach_messages where ${answersWaiting}`,
    keepBack: `update outreach_messages set state = 'failed', error = '${why}' where ${answersWaiting}`,
  },
  campaigns: {
    count: `select count(*)::int as n from campaigns where ${campaignsUnderWay}`,
    keepBack: `update campaigns set status = 'suspended' where ${campaignsUnderWay}`,
  },
  automations: {
    count: `select count(*)::int as n from automations where ${automationsAtWork}`,
    keepBack: `update automations set status = 'paused' where ${automationsAtWork}`,
  },
  carts: {
    count: `select count(*)::int as n from automation_runs where ${cartsDue}`,
    keepBack: `
      update automation_runs
         set status = 'stopped', reason = 'restored', ended_at = clock_timestamp()
       where ${cartsDue}`,
  },
  sequences: {
    count: `select count(*)::int as n from outreach_sequences where ${sequencesAtWork}`,
    keepBack: `
      update outreach_sequences set status = 'paused', paused_reason = 'restored' where ${sequencesAtWork}`,
  },
} as const

export type Waiting = Record<keyof typeof waiting, number>

export const countWaiting = (client: pg.Client): Promise<Waiting> =>
  ofEach(async ({ count }) => (await client.query(count)).rows[0].n)

export const keepBackWaiting = (client: pg.Client): Promise<Waiting> =>
  ofEach(async ({ keepBack }) => (await client.query(keepBack)).rowCount ?? 0)

async function ofEach(ask: (one: { count: string; keepBack: string }) => Promise<number>): Promise<Waiting> {
  const counts: Partial<Waiting> = {}
  for (const name of Object.keys(waiting) as (keyof Waiting)[]) counts[name] = await ask(waiting[name])
  return counts as Waiting
}
