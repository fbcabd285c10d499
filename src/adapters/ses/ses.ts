import type { SESv2Client } from '@aws-sdk/client-sesv2'
import type { Handover, Outcome, Transport } from '../../kernel/ports.ts'
import { readIdentity, removeIdentity } from './identity.ts'
import { messageTooLarge, outcomeOf } from './outcome.ts'

export type SesOptions = {
  region: string
  endpoint?: string
  /** Without them the usual places of the AWS SDK are looked at. */
  credentials?: { accessKeyId: string; secretAccessKey: string; sessionToken?: string }
  /** Needed for feedback that names our messages. */
  configurationSet?: string
  concurrency?: number
  timeoutMs?: number
}

/** per24h is Infinity where Amazon sets no limit. Recipients are counted, not calls. */
export type SesQuota = { perSecond: number; per24h: number; sentLast24h: number }

export type SesTransport = Transport & { quota(): Promise<SesQuota> }

export const messageTag = 'posthorn_message'
export const accountTag = 'posthorn_account'

// 40 MB after base64, which makes four bytes of three.
const largestRaw = 30_000_000
const quotaKeptMs = 30_000

type Sdk = typeof import('@aws-sdk/client-sesv2')
type Reached = { sdk: Sdk; sender: SESv2Client; manager: SESv2Client; options: SesOptions }

/** The SDK is loaded here and not before: 20 MB of memory for those who use it. */
export async function openSesTransport(options: SesOptions): Promise<SesTransport> {
  const sdk = await import('@aws-sdk/client-sesv2')
  const concurrency = options.concurrency ?? 10
  const make = (maxAttempts: number, maxSockets: number) =>
    new sdk.SESv2Client({ ...clientSettings(options, maxSockets), maxAttempts })
  // Sending is tried once: there is no token against doing it twice. The other calls may be repeated, and must be,
  // since Amazon allows about one of them in a second.
  const reached = { sdk, sender: make(1, concurrency), manager: make(4, 4), options }
  return {
    kind: 'ses',
    signs: true,
    takesMarketing: true,
    concurrency,
    send: (handover) => send(reached, handover),
    verify: () => verify(reached),
    unsuppress: (address) => unsuppress(reached, address),
    identity: (domain) => readIdentity(reached, domain),
    removeIdentity: (domain) => removeIdentity(reached, domain),
    quota: kept(() => readQuota(reached)),
    close: async () => {
      reached.sender.destroy()
      reached.manager.destroy()
    },
  }
}

function clientSettings(options: SesOptions, maxSockets: number) {
  const { region, endpoint, credentials, timeoutMs = 30_000 } = options
  // A connection that rests longer may be closed at the other end while we write to it, and then nobody knows
  // whether the message got through.
  const agent = { maxSockets, timeout: 10_000 }
  return {
    region,
    endpoint,
    credentials,
    requestHandler: {
      connectionTimeout: 5_000,
      requestTimeout: timeoutMs,
      // Otherwise the time limit is only written to the log.
      throwOnRequestTimeout: true,
      // It ends with the head of the answer; a body that never comes is waited for no longer.
      socketTimeout: timeoutMs,
      httpAgent: agent,
      httpsAgent: agent,
    },
  }
}

async function send({ sdk, sender, options }: Reached, handover: Handover): Promise<Outcome> {
  if (handover.raw.length > largestRaw) return messageTooLarge(handover.raw.length)
  const command = new sdk.SendEmailCommand({
    // No FromEmailAddress: SES takes the identity from the From header and sets the envelope sender itself.
    // With a Destination it does not look for recipients in the headers.
    Destination: { ToAddresses: [handover.recipient] },
    Content: { Raw: { Data: handover.raw } },
    ConfigurationSetName: options.configurationSet,
    EmailTags: tagsOf(handover),
  })
  try {
    const { MessageId } = await sender.send(command)
    return { kind: 'accepted', upstreamId: MessageId ?? null, response: `Amazon SES took it as ${MessageId}` }
  } catch (error) {
    return outcomeOf(error)
  }
}

// SES refuses the whole message for a tag with other characters.
function tagsOf({ id, accountId }: Handover) {
  const tags = [
    { Name: messageTag, Value: id },
    { Name: accountTag, Value: accountId },
  ]
  return tags.filter(({ Value }) => /^[A-Za-z0-9_-]{1,256}$/.test(Value))
}

async function readAccount({ sdk, manager, options }: Reached) {
  try {
    return await manager.send(new sdk.GetAccountCommand({}))
  } catch (error) {
    const { kind, message } = outcomeOf(error)
    const where = `Amazon SES in ${options.region}`
    const hint = kind === 'rejected' ? 'does not understand us' : 'cannot be used'
    throw new Error(`${where} ${hint}: ${message}. Check the region, the key and its right ses:GetAccount`, {
      cause: error,
    })
  }
}

async function verify(reached: Reached): Promise<void> {
  const account = await readAccount(reached)
  const { region } = reached.options
  if (account.EnforcementStatus === 'SHUTDOWN') {
    throw new Error(`Amazon has closed sending for this account in ${region}: write to AWS support`)
  }
  if (account.SendingEnabled === false) {
    throw new Error(`Sending is paused for this account in ${region}: see the SES console, Reputation`)
  }
}

async function readQuota(reached: Reached): Promise<SesQuota> {
  const { SendQuota = {} } = await readAccount(reached)
  const { MaxSendRate = 1, Max24HourSend = 200, SentLast24Hours = 0 } = SendQuota
  const per24h = Max24HourSend < 0 ? Number.POSITIVE_INFINITY : Max24HourSend
  return { perSecond: MaxSendRate, per24h, sentLast24h: SentLast24Hours }
}

function kept<T>(read: () => Promise<T>): () => Promise<T> {
  let last: { at: number; value: T } | undefined
  return async () => {
    if (last === undefined || performance.now() - last.at > quotaKeptMs) {
      last = { value: await read(), at: performance.now() }
    }
    return last.value
  }
}

/** The list is one for the whole Amazon account: the caller knows whether another of ours still needs the entry. */
async function unsuppress({ sdk, manager }: Reached, address: string): Promise<void> {
  try {
    await manager.send(new sdk.DeleteSuppressedDestinationCommand({ EmailAddress: address }))
  } catch (error) {
    const { $metadata } = error as { $metadata?: { httpStatusCode?: number } }
    if ($metadata?.httpStatusCode !== 404) throw error
  }
}
