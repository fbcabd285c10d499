// What an upstream tells about SMS, each notification once. What is not about one of ours is passed over.
import type { Db } from '../../kernel/db.ts'
import { newUuid } from '../../kernel/id.ts'
import type { Log } from '../../kernel/log.ts'
import type { SmsReport } from '../../kernel/ports.ts'
import { storable } from '../../kernel/v3/lenient.ts'
import { readPhone } from '../contacts/contacts/read-ref.ts'
import { rememberFeedback } from '../messages/feedback-queries.ts'
import { markSent } from './delivery-queries.ts'
import {
  findByRef,
  findByUpstreamId,
  insertEvent,
  listLastTo,
  markDelivered,
  markFailed,
  type Target,
} from './event-queries.ts'
import type { EventType } from './model.ts'
import { insertOptout } from './queries.ts'
import { isStop } from './stop.ts'

/** `id` repeats when the provider delivers the notification again. */
export type SmsFeedback = { provider: string; id: string; reports: SmsReport[] }

export type ReportNeeds = { db: Db; log: Log; now: () => Date }

export async function recordReports(
  needs: ReportNeeds,
  { provider, id, reports }: SmsFeedback,
): Promise<void> {
  await needs.db.transaction(async (tx) => {
    if (!(await rememberFeedback(tx, { provider, id, at: needs.now() }))) return
    for (const report of reports) {
      const found = await targetsOf(tx, report)
      const last = found.at(-1)
      if (!last) needs.log.debug({ provider, id }, 'a report about an SMS that is not ours')
      else if (report.kind === 'reply') await recordReply(tx, found, report)
      else await recordStatus(tx, last, report)
    }
  })
}

const largestId = BigInt(Number.MAX_SAFE_INTEGER)

/** Of an answer that does not say what it answers all that it may mean, the latest last. */
async function targetsOf(tx: Db, report: SmsReport): Promise<Target[]> {
  if (report.kind === 'status') {
    const ref = report.messageRef ?? ''
    const isOurs = /^\d{1,16}$/.test(ref) && BigInt(ref) <= largestId
    const found = isOurs ? await findByRef(tx, ref) : undefined
    return [found ?? (await findByUpstreamId(tx, report.upstreamId)) ?? []].flat()
  }
  const phone = readPhone(report.from)
  const answered = report.upstreamId === null ? undefined : await findByUpstreamId(tx, report.upstreamId)
  if (answered && answered.recipient === phone) return [answered]
  return phone === undefined ? [] : listLastTo(tx, phone)
}

type Status = Extract<SmsReport, { kind: 'status' }>

async function recordStatus(tx: Db, found: Target, report: Status): Promise<void> {
  const ref = refOf(found)
  const { type, at, upstreamId } = report
  const tell = (told: EventType, data: object = {}) =>
    insertEvent(tx, ref, { id: newUuid(), type: told, at, data })
  // Whatever it says, the upstream has it: the hand-over itself may not have heard so.
  await markSent(tx, { ...ref, upstreamId, at })
  await tell('sent')
  if (type === 'sent') return
  if (type === 'accepted') return void (await tell('accepted'))
  if (type === 'delivered') {
    await markDelivered(tx, ref, at)
    return void (await tell('delivered'))
  }
  const reason = storable(report.description).slice(0, 500)
  if (!(await markFailed(tx, ref, reason))) return
  await tell(type, { reason })
  if (type === 'blocked')
    await insertOptout(tx, { accountId: ref.accountId, phone: found.recipient, reason: 'upstream', at })
}

const longestReply = 1600

async function recordReply(tx: Db, found: Target[], { text, at }: Extract<SmsReport, { kind: 'reply' }>) {
  const reply = storable(text).slice(0, longestReply)
  for (const one of found.slice(-1))
    await insertEvent(tx, refOf(one), { id: newUuid(), type: 'replied', at, data: { reply } })
  if (!isStop(reply)) return
  for (const one of found) {
    await insertOptout(tx, { accountId: one.account_id, phone: one.recipient, reason: 'stop', at })
    await insertEvent(tx, refOf(one), { id: newUuid(), type: 'unsubscribed', at, data: {} })
  }
}

const refOf = ({ account_id: accountId, id }: Target) => ({ accountId, id })
