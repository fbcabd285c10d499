// One step is taken in one transaction: everything that could stand against it is asked again, under locks, the day's
// caps are counted, and the message is written down with its final Message-ID before anything leaves. What is written
// down is handed over once and never again, whatever happens to this process.
import type { Db } from '../../../kernel/db.ts'
import { domainOf } from '../../../kernel/email-address.ts'
import { Refusal } from '../../../kernel/refusal.ts'
import { lockPerson } from '../../contacts/unsubscribe/queries.ts'
import type { FindUnsubscribeKeys } from '../../contacts/unsubscribe/tokens.ts'
import { newMessageId } from '../../messages/message-id.ts'
import { refusingFaults } from '../../transactional/v3/render.ts'
import { type StopReason, stopEnrollment, stopProspect } from '../enrollments/stop-enrollments.ts'
import type { ServerSettings } from '../mailboxes/credentials.ts'
import { limitOn } from '../mailboxes/ramp.ts'
import { findThread, insertOutgoing, type OutreachMessageRow } from '../messages/queries.ts'
import { dayIn, isOpen, utcDay } from '../planning/windows.ts'
import { type Composed, composeOutreach, unsubscribeUrlOf } from './compose-outreach.ts'
import {
  type Claimed,
  claimEnrollment,
  countMailboxSend,
  countSequenceSend,
  type DueRef,
  type Facts,
  findFacts,
  finish,
  giveBack,
  giveBackToSequence,
  markHanding,
  type Spent,
  unplan,
} from './queries.ts'
import { renderStep } from './render-step.ts'

export type ClaimNeeds = { db: Db; baseUrl: string; unsubscribeKeys: FindUnsubscribeKeys }

/** A message that this process, and no other, hands over. */
export type Taken = {
  due: DueRef
  id: string
  from: string
  raw: Buffer
  mode: 'live' | 'test'
  smtp: ServerSettings
  sealed: Buffer
  spent: Spent
}

// Longer than any conversation with a mail server can take.
export const leaseMs = 15 * 60_000

/** Nothing when the step is another's, or may not go. */
export function claimStep(needs: ClaimNeeds, due: DueRef, now: Date): Promise<Taken | undefined> {
  return needs.db.transaction(async (db) => {
    // Before the enrolment: whoever unsubscribes holds this and then stops the enrolment.
    await lockPerson(db, { accountId: due.account_id, email: due.email })
    const claimed = await claimEnrollment(db, due, now)
    if (!claimed) return undefined
    const facts = await findFacts(db, due, claimed.mailbox_id, now)
    return facts ? decide({ ...needs, db }, { due, claimed, facts }, now) : void (await unplan(db, due))
  })
}

type Step = { due: DueRef; claimed: Claimed; facts: Facts }

async function decide(needs: ClaimNeeds, step: Step, now: Date): Promise<Taken | undefined> {
  const { db } = needs
  const { due, claimed, facts } = step
  const gone = goneFor(facts)
  if (gone) {
    await stopProspect(db, { accountId: due.account_id, prospectId: due.prospect_id }, gone, now)
    return undefined
  }
  if (claimed.next_step >= facts.steps.length) {
    await finish(db, due, now)
    return undefined
  }
  // Whoever was written to may have answered since somebody looked.
  const isHeard = claimed.next_step === 0 || facts.is_read
  const spent = isHeard && isReady(facts, now) ? await spend(db, step, now) : undefined
  if (spent) return write(needs, { ...step, spent }, now)
  await unplan(db, due)
  return undefined
}

function goneFor({ suppression, contact_status }: Facts): StopReason | undefined {
  if (suppression === 'unsubscribe' || contact_status === 'unsubscribed') return 'unsubscribed'
  return suppression === null ? undefined : 'suppressed'
}

function isReady(facts: Facts, now: Date): boolean {
  const { status, has_module, mailbox_state, schedule, company_name, postal_address } = facts
  const hasIdentity = Boolean(company_name?.trim() && postal_address?.trim())
  return (
    status === 'running' && has_module && hasIdentity && mailbox_state === 'active' && isOpen(schedule, now)
  )
}

/** Nothing when one of the caps is used up, and then nothing is counted. */
async function spend(db: Db, { due, claimed, facts }: Step, now: Date): Promise<Spent | undefined> {
  const spent = {
    accountId: due.account_id,
    mailboxId: claimed.mailbox_id,
    sequenceId: due.sequence_id,
    utcDay: utcDay(now.getTime()),
    localDay: dayIn(facts.schedule.timezone, now),
    mode: facts.mode,
  }
  const { accountId, mode } = spent
  const limit = limitOn(facts, now.getTime())
  const ofMailbox = { accountId, id: spent.mailboxId, day: spent.utcDay, most: limit, mode }
  const most = facts.sequence_limit ?? greatest
  const ofSequence = { accountId, id: spent.sequenceId, day: spent.localDay, most }
  // The sequence first, always: two transactions that count the same rows in another order would wait for each other.
  if (!(await countSequenceSend(db, ofSequence))) return undefined
  if (await countMailboxSend(db, ofMailbox)) return spent
  await giveBackToSequence(db, spent)
  return undefined
}

const greatest = 2 ** 31 - 1

async function write(
  needs: ClaimNeeds,
  step: Step & { spent: Spent },
  now: Date,
): Promise<Taken | undefined> {
  const { db } = needs
  const { due, claimed, facts, spent } = step
  const { id, messageId } = newMessageId(domainOf(facts.mailbox_email))
  const composed = await compose(needs, step, { id, messageId, date: now })
  if (!composed) {
    await giveBack(db, spent)
    await stopEnrollment(db, refOf(due), 'template', now)
    return undefined
  }
  await insertOutgoing(db, {
    ...refOf(due),
    id,
    mailboxId: claimed.mailbox_id,
    step: claimed.next_step,
    messageId,
    recipient: due.email,
    subject: composed.subject,
    text: composed.text,
    html: composed.html,
    refs: composed.refs,
    state: 'handing',
    mode: facts.mode,
    leasedUntil: new Date(now.getTime() + leaseMs),
    at: now,
  })
  await markHanding(db, due, id)
  const { mode, smtp, sealed, mailbox_email } = facts
  return { due, id, from: mailbox_email, raw: composed.raw, mode, smtp, sealed, spent }
}

export const refOf = ({ account_id, sequence_id, prospect_id }: DueRef) => ({
  accountId: account_id,
  sequenceId: sequence_id,
  prospectId: prospect_id,
})

type Named = { id: string; messageId: string; date: Date }

/** Nothing where the templates give nothing to send: they are the customer's, and were right for others. */
async function compose(
  { db, baseUrl, unsubscribeKeys }: ClaimNeeds,
  { due, claimed, facts }: Step,
  named: Named,
): Promise<(Composed & { refs: string[] }) | undefined> {
  const step = facts.steps[claimed.next_step]
  if (!step) return undefined
  const prospect = { ...facts, email: due.email }
  const sender = { email: facts.mailbox_email, name: facts.mailbox_name }
  const keys = await unsubscribeKeys()
  const unsubscribeUrl = unsubscribeUrlOf({ baseUrl, keys }, { accountId: due.account_id, email: due.email })
  const thread = await findThread(db, refOf(due))
  try {
    const scope = { prospect, sender, unsubscribeUrl, now: named.date }
    const rendered = await renderStep(step, scope, thread.map(asItWent))
    const mail = {
      ...named,
      ...rendered,
      from: addressOf(sender),
      to: addressOf({ email: due.email, name: `${facts.first_name} ${facts.last_name}`.trim() }),
      identity: { company_name: facts.company_name ?? '', postal_address: facts.postal_address ?? '' },
      unsubscribeUrl,
      source: claimed.next_step === 0 ? facts.source : undefined,
    }
    const composed = await refusingFaults('html', async () => composeOutreach(mail))
    return { ...composed, refs: rendered.refs }
  } catch (error) {
    if (error instanceof Refusal) return undefined
    throw error
  }
}

const asItWent = ({ message_id, final_message_id, subject }: OutreachMessageRow) => ({
  message_id: final_message_id ?? message_id,
  subject,
})

export const addressOf = ({ email, name }: { email: string; name: string }) =>
  name === '' ? { email } : { email, name }
