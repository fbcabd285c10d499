// DATA: taking the message in, and handing it over.
import { newUuid, showId } from '../../kernel/id.ts'
import { Refusal, refusal } from '../../kernel/refusal.ts'
import { within } from '../../kernel/within.ts'
import { type Client, dismiss, type Envelope, type Message, nothing, type Step } from './client.ts'
import { logFailure } from './failures.ts'
import { holdIn } from './hold.ts'
import { type Intake, isTooLarge, messageOf, newIntake, take } from './intake.ts'
import type { RelayMail } from './options.ts'
import { andGoodbye, asciiLine, replies, replyTo } from './replies.ts'

const acceptTooSlow = refusal({
  code: 'relay_timeout',
  kind: 'unavailable',
  message: 'The message could not be stored in time, try again later',
})

const isTimeout = (error: unknown) =>
  error instanceof Refusal && error.declaration === acceptTooSlow.declaration

export function startData(client: Client): string {
  const { envelope, relay } = client
  if (!envelope) return replies.mailFirst
  if (envelope.recipients.length === 0) return replies.noRecipients
  const hold = holdIn(relay.room, relay.options.ownerOf(client.session?.is))
  client.message = {
    hold,
    intake: newIntake(relay.options.maxBytes, hold.grow),
    startedAt: performance.now(),
    deadline: setTimeout(() => dismiss(client, replies.timeout), relay.timeouts.dataMs),
  }
  return replies.goAhead
}

/** Undefined while the message goes on. */
export function readData(client: Client, message: Message): Step | undefined {
  const { input } = client
  const { intake, startedAt } = message
  const end = take(intake, input)
  client.input = end < 0 ? nothing : input.subarray(end)
  client.timers.idle.refresh()
  if (end >= 0) return endData(client, message)
  return isTooSlow(intake.bytes, performance.now() - startedAt) ? replies.timeout : undefined
}

const graceMs = 30_000
const leastBytesPerSecond = 100

/** A client that drips octets just often enough to never fall silent. */
export function isTooSlow(bytes: number, elapsedMs: number): boolean {
  return elapsedMs > graceMs && bytes < (elapsedMs / 1_000) * leastBytesPerSecond
}

function endData(client: Client, { intake, startedAt, deadline, hold }: Message): Step {
  const { envelope } = client
  clearTimeout(deadline)
  client.message = undefined
  client.envelope = undefined
  client.commands = 0
  client.named = 0
  client.timers.total.refresh()
  const fault = faultOf(intake)
  if (!fault && envelope)
    return store(client, envelope, { raw: messageOf(intake), startedAt }).finally(hold.release)
  hold.release()
  return fault ?? replies.mailFirst
}

function faultOf(intake: Intake): string | undefined {
  if (isTooLarge(intake)) return replies.tooLarge
  return intake.fault && replies[intake.fault]
}

async function store(
  client: Client,
  envelope: Envelope,
  { raw, startedAt }: { raw: Buffer; startedAt: number },
): Promise<string> {
  const { log, timeouts } = client.relay
  const requestId = showId('req', newUuid())
  const mail = { envelopeFrom: envelope.from, recipients: envelope.recipients, raw, requestId, ip: client.ip }
  const leftMs = Math.max(1, timeouts.dataMs - (performance.now() - startedAt))
  const work = handOver(client, mail)
  const about = { ip: client.ip, requestId, bytes: raw.length, recipients: mail.recipients.length }
  client.accepting = true
  try {
    const { id } = await within(leftMs, work, acceptTooSlow)
    client.faults = 0
    log({ event: 'relay.accepted', id, ...about })
    return `250 2.0.0 queued as ${asciiLine(id)}`
  } catch (error) {
    logFailure(client, 'message', error, requestId)
    const reply = replyTo(error, 'message')
    if (!isTimeout(error)) return reply
    // The client was told to try again, so this one may come twice.
    work.then(({ id }) => log({ event: 'relay.accepted_late', id, ...about })).catch(() => undefined)
    // Another message on this connection would overtake the one still under way.
    return andGoodbye(reply, replies.stillWorking)
  }
}

async function handOver(client: Client, mail: RelayMail): Promise<{ id: string }> {
  return client.relay.options.accept(client.session?.is, mail)
}
