// AWS End User Messaging, the service that sends SMS.
import type { PinpointSMSVoiceV2Client } from '@aws-sdk/client-pinpoint-sms-voice-v2'
import type { SmsHandover, SmsOutcome, SmsTransport } from '../../kernel/ports.ts'
import { outcomeOf } from './outcome.ts'

export type AwsSmsOptions = {
  region: string
  endpoint?: string
  /** Without them the usual places of the AWS SDK are looked at. */
  credentials?: { accessKeyId: string; secretAccessKey: string; sessionToken?: string }
  /** Needed for reports of what became of an SMS. */
  configurationSet?: string
  concurrency?: number
  timeoutMs?: number
}

export const messageKey = 'posthorn_message'
// Amazon takes 5 seconds to 72 hours.
const shortestLifeSeconds = 5

type Sdk = typeof import('@aws-sdk/client-pinpoint-sms-voice-v2')
type Reached = { sdk: Sdk; client: PinpointSMSVoiceV2Client; options: AwsSmsOptions }

/** The SDK is loaded here and not before. */
export async function openAwsSms(options: AwsSmsOptions): Promise<SmsTransport> {
  const sdk = await import('@aws-sdk/client-pinpoint-sms-voice-v2')
  const { region, endpoint, credentials, timeoutMs = 30_000, concurrency = 10 } = options
  const agent = { maxSockets: concurrency, timeout: 10_000 }
  const requestHandler = {
    connectionTimeout: 5_000,
    requestTimeout: timeoutMs,
    // Otherwise the time limit is only written to the log.
    throwOnRequestTimeout: true,
    // It ends with the head of the answer; a body that never comes is waited for no longer.
    socketTimeout: timeoutMs,
    httpAgent: agent,
    httpsAgent: agent,
  }
  // Tried once: there is no token against sending twice.
  const client = new sdk.PinpointSMSVoiceV2Client({
    region,
    endpoint,
    credentials,
    requestHandler,
    maxAttempts: 1,
  })
  const reached = { sdk, client, options }
  return {
    kind: 'sns',
    concurrency,
    shortestLifeSeconds,
    send: (handover) => send(reached, handover),
    verify: () => verify(reached),
    close: async () => client.destroy(),
  }
}

async function send({ sdk, client, options }: Reached, handover: SmsHandover): Promise<SmsOutcome> {
  const command = new sdk.SendTextMessageCommand({
    DestinationPhoneNumber: handover.recipient,
    OriginationIdentity: handover.sender,
    MessageBody: handover.content,
    MessageType: handover.type === 'marketing' ? 'PROMOTIONAL' : 'TRANSACTIONAL',
    TimeToLive: handover.lifeSeconds ?? undefined,
    ConfigurationSetName: options.configurationSet,
    Context: { [messageKey]: handover.id },
  })
  try {
    const { MessageId } = await client.send(command)
    return { kind: 'accepted', upstreamId: MessageId ?? null }
  } catch (error) {
    return outcomeOf(error)
  }
}

async function verify({ sdk, client, options }: Reached): Promise<void> {
  try {
    await client.send(new sdk.DescribeAccountAttributesCommand({}))
  } catch (error) {
    const said = error instanceof Error ? `${error.name}: ${error.message}` : String(error)
    throw new Error(
      `AWS End User Messaging in ${options.region} cannot be used: ${said}. Check the region, the key and its right ` +
        'sms-voice:DescribeAccountAttributes',
      { cause: error },
    )
  }
}
