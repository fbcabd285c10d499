// One message: what goes over the wire, or why nothing does, and the hand-over itself.
import type { Log } from '../../kernel/log.ts'
import type { Transport } from '../../kernel/ports.ts'
import { SealFault } from '../../kernel/seal.ts'
import { isPassing } from '../../kernel/surely.ts'
import { type ComposeNeeds, composeDue } from './compose-message.ts'
import { isBodyApart, loadBody } from './delivery-queries.ts'
import type { IsForeign } from './senders/foreign-domain.ts'
import type { CampaignMail, HandedOver } from './settle.ts'
import { actOf, simulatedOutcome } from './simulator.ts'
import { isTemplateFault } from './templates/fault.ts'

export type HandOverNeeds = ComposeNeeds & {
  log: Log
  transport: Transport
  /** For keys in test mode and for the simulator's addresses. */
  capture: Transport
  /** Asked where the upstream signs. */
  isForeign?: IsForeign
  /** Absent where no campaign is sent. */
  campaigns?: CampaignMail
}

type Due = HandedOver['due']

const isCaptured = ({ recipient, mode }: Due) => mode === 'test' || actOf(recipient) !== undefined

const isWaiting = ({ status }: Due) => status === 'queued' || status === 'held'

export const goesUpstream = (due: Due) =>
  isWaiting(due) && due.suppressed === null && !due.is_contact_gone && !isCaptured(due)

// Somebody has to act: the message is held meanwhile.
const unready = (message: string): HandedOver['outcome'] => ({
  kind: 'unready',
  retryAfterMs: 600_000,
  smtpCode: null,
  enhancedCode: '4.3.5',
  message,
})

const marketingRefused = 'the upstream takes transactional mail only: marketing mail needs another transport'

const foreign = (email: string) =>
  `the upstream signs for the domain of ${email}, which is not this account's: declare and verify it, or prove the ` +
  'address as a sender'

type Composed = Buffer | HandedOver['outcome']

const transportOf = (needs: HandOverNeeds, due: Due) => (isCaptured(due) ? needs.capture : needs.transport)

export async function handOver(
  needs: HandOverNeeds,
  due: Due,
  raw: Composed,
): Promise<HandedOver['outcome']> {
  if (!Buffer.isBuffer(raw)) return raw
  const act = actOf(due.recipient)
  const told = act && simulatedOutcome(act, due.attempts)
  if (told && told.kind !== 'accepted') return told
  return transportOf(needs, due).send({
    id: due.id,
    accountId: due.account_id,
    envelopeFrom: due.sender,
    recipient: addressOf(due),
    raw,
    stream: due.stream,
  })
}

/** In the letters that it was given with, which may mean something to its server (RFC 5321 §2.4). */
function addressOf({ recipient, parts, track }: Due): string {
  if (track.letters !== undefined) return track.letters
  const shown = [...(parts?.to ?? []), ...(parts?.cc ?? [])]
  return shown.find(({ email }) => email.toLowerCase() === recipient)?.email ?? recipient
}

/** What goes over the wire, or why nothing does. */
export async function compose(needs: HandOverNeeds, due: Due): Promise<Composed> {
  if (!isWaiting(due)) return { kind: 'gone' }
  if (due.is_erased) return { kind: 'erased' }
  if (due.suppressed !== null) return { kind: 'suppressed', reason: due.suppressed }
  if (due.is_contact_gone) return { kind: 'contact gone' }
  const transport = transportOf(needs, due)
  if (due.stream === 'marketing' && !transport.takesMarketing) return forbid(needs, due, marketingRefused)
  return write(needs, due, transport).catch((error) => cannotCompose(needs, due, error))
}

/**
 * Whether the upstream would sign it for a domain of others. The service's own messages, which hold a secret, may come
 * from its public name.
 */
export async function isNotSignedFor({ transport, isForeign }: HandOverNeeds, due: Due): Promise<boolean> {
  const { account_id: accountId, sender: email, parts } = due
  if (!transport.signs || isCaptured(due) || parts?.sealed !== undefined) return false
  return (await isForeign?.({ accountId, email })) === true
}

/** A campaign is stopped as a whole; what an automation sent waits by itself. */
async function forbid({ campaigns }: HandOverNeeds, due: Due, why: string): Promise<Composed> {
  if (due.campaign_id === null) return unready(why)
  await campaigns?.forbid(due, why)
  return { kind: 'interrupted' }
}

async function write(needs: HandOverNeeds, due: Due, transport: Transport): Promise<Composed> {
  if (await isNotSignedFor(needs, due)) return forbid(needs, due, foreign(due.sender))
  if (isBodyApart(due)) Object.assign(due, await loadBody(needs.db, due.id))
  if (due.campaign_id === null) return composeDue(needs, due, transport)
  if (!needs.campaigns) throw new Error(`nobody writes the messages of campaign ${due.campaign_id}`)
  const written = await needs.campaigns.write(due)
  if (!written) return { kind: 'interrupted' }
  due.renderedSubject = written.subject
  // The simulator clicks on what the message holds.
  if (actOf(due.recipient)) due.parts = written.parts
  return composeDue(needs, due, transport, written)
}

/**
 * A message that cannot be written down would come back at every lease for ever. Without the database, or with others
 * in the way there, it waits.
 */
function cannotCompose({ log }: HandOverNeeds, due: Due, error: unknown): HandedOver['outcome'] {
  if (isPassing(error)) throw error
  log.error({ err: error, message: due.id }, 'a message could not be composed')
  if (error instanceof SealFault) return unready(error.message)
  return {
    kind: 'rejected',
    smtpCode: null,
    enhancedCode: '5.6.0',
    message: isTemplateFault(error)
      ? `The message could not be composed: ${error.message}`
      : 'The message could not be composed.',
  }
}
