// A call is accepted as a whole or refused as a whole, also where it is many messages.
import type { Ctx } from '../../../kernel/ctx.ts'
import { assumptionFailed, type Db } from '../../../kernel/db.ts'
import { newUuid } from '../../../kernel/id.ts'
import { Refusal } from '../../../kernel/refusal.ts'
import { readSettings } from '../../accounts/settings/settings.ts'
import { insertEvents } from '../../messages/event-queries.ts'
import {
  assumesFree,
  findSuppressedOf,
  type Outgoing,
  type Queued,
  queueMessages,
  refOf,
  suppressedRefusal,
} from '../../messages/queue-messages.ts'
import { recipientSuppressed } from '../../messages/refusals.ts'
import { nameOfRef } from '../../suppressions/queries.ts'
import type { Plan } from './plan-send.ts'

type Reasons = Map<string, { reason: string }>

/** For each plan the refusal, or nothing when it is queued. */
export async function queuePlans(db: Db, plans: Plan[]): Promise<(Refusal | undefined)[]> {
  const copies = plans.flatMap(copiesOf)
  const isAssumed = assumesFree(db, copies)
  const reasons: Reasons = isAssumed ? new Map() : await findSuppressedOf(db, copies)
  const refused = await Promise.all(plans.map((plan) => refusalOfSuppressed(plan, reasons)))
  const outgoing = plans.filter((_, i) => !refused[i]).flatMap(copiesOf)
  const queued = await queueMessages(db, outgoing, plans.length === 1 ? 'together' : 'singly')
  // Doubts may have come up meanwhile: plans are then refused as a whole by what is known before.
  if (isAssumed && queued.some(isSuppressed)) throw assumptionFailed()
  await recordBlocked(db, queued, reasons)
  const results = new Map(outgoing.map((one, i) => [one, queued[i]]))
  return plans.map((plan, i) => refused[i] ?? refusalOf(plan, results))
}

const isSuppressed = (one: Queued | Refusal) =>
  one instanceof Refusal ? one.code === recipientSuppressed.declaration.code : one.status === 'suppressed'

function copiesOf({ versions }: Plan): Outgoing[] {
  return versions.flatMap(({ copies, isSandbox }) => (isSandbox ? [] : copies))
}

async function refusalOfSuppressed(plan: Plan, reasons: Reasons): Promise<Refusal | undefined> {
  const hits = copiesOf(plan).map((copy) => reasons.get(nameOfRef(refOf(copy)))?.reason)
  if (hits.includes(undefined) || (await isCompatible(plan.ctx))) return undefined
  const [first] = copiesOf(plan)
  if (hits.length === 1 && first) return suppressedRefusal(first.recipient.email, hits[0] ?? '')
  return recipientSuppressed({ message: 'Every recipient is on the suppression list.', param: 'to' })
}

async function isCompatible(ctx: Ctx): Promise<boolean> {
  return (await readSettings(ctx)).provider_compatibility
}

async function recordBlocked(db: Db, queued: (Queued | Refusal)[], reasons: Reasons): Promise<void> {
  const events = queued.flatMap((one) => {
    if (one instanceof Refusal || one.status !== 'suppressed') return []
    const { caller, now } = one.outgoing
    const data = JSON.stringify({
      reason: reasons.get(nameOfRef(refOf(one.outgoing)))?.reason ?? 'suppressed',
    })
    return {
      id: newUuid(),
      accountId: caller.accountId,
      messageId: one.id,
      type: 'blocked',
      at: now,
      data,
    }
  })
  if (events.length > 0) await insertEvents({ run: db.runLast }, events)
}

/** Thrown where some of its messages are written already: the call then goes alone, and nothing of it is kept. */
function refusalOf(plan: Plan, results: Map<Outgoing, Queued | Refusal | undefined>): Refusal | undefined {
  const of = copiesOf(plan).map((copy) => results.get(copy))
  const refusals = of.filter((one) => one instanceof Refusal)
  const [first] = refusals
  if (first && refusals.length < of.length) throw first
  return first
}
