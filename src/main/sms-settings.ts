// What the settings of SMS may say.
import { Fault, httpUrl, type Read } from './read-value.ts'

export type SmsUrl =
  | { kind: 'capture' }
  | { kind: 'sns'; region: string; configurationSet: string | undefined }
  | { kind: 'ovh'; service: string }

const forms = 'capture, sns://REGION or ovh://SERVICE'

/** Throws with words that follow the name of the variable. */
export function readSmsUrl(value: string): SmsUrl {
  if (value === 'capture') return { kind: 'capture' }
  const [, region, set] =
    /^sns:\/\/([a-z]{2}(?:-[a-z0-9]+)+)\/?(?:\?configuration-set=([\w-]{1,64}))?$/.exec(value) ?? []
  if (region !== undefined) return { kind: 'sns', region, configurationSet: set }
  const service = /^ovh:\/\/([\w-]{1,64})\/?$/.exec(value)?.[1]
  if (service !== undefined) return { kind: 'ovh', service }
  if (value.startsWith('sns://'))
    throw new Error(
      'must name a region, such as sns://eu-west-3, with ?configuration-set=NAME or nothing behind',
    )
  if (value.startsWith('ovh://')) throw new Error('must name an SMS service, such as ovh://sms-ab12345-1')
  throw new Error(`must be ${forms}`)
}

export const smsTransport: Read<string> = (value) => {
  try {
    readSmsUrl(value)
    return value
  } catch (error) {
    return new Fault(error instanceof Error ? error.message : String(error))
  }
}

export const stopMention: Read<string> = (value) =>
  /^STOP [\x20-\x5a\x61-\x7a]{1,30}$/i.test(value) ? value : new Fault('must be such as STOP 36111')

const endpoints: Record<string, string> = {
  'ovh-eu': 'https://eu.api.ovh.com/1.0',
  'ovh-ca': 'https://ca.api.ovh.com/1.0',
}

/** As OVH's own libraries read it; an address of one's own, for emulators. Looked at only where OVH is used. */
export function ovhAddress(value: string): string | undefined {
  const known = Object.hasOwn(endpoints, value) ? endpoints[value] : undefined
  const address = known ?? httpUrl(value)
  return address instanceof Fault ? undefined : address
}

export const hookToken: Read<string> = (value) =>
  /^[\w-]{16,128}$/.test(value) ? value : new Fault('must have 16 to 128 letters, digits, "-" and "_"')

type Credentials = { ovhEndpoint: string } & Partial<
  Record<
    'awsAccessKeyId' | 'awsSecretAccessKey' | 'ovhApplicationKey' | 'ovhApplicationSecret' | 'ovhConsumerKey',
    string
  >
>

const needed: Record<SmsUrl['kind'], [Exclude<keyof Credentials, 'ovhEndpoint'>, string][]> = {
  capture: [],
  sns: [
    ['awsAccessKeyId', 'AWS_ACCESS_KEY_ID'],
    ['awsSecretAccessKey', 'AWS_SECRET_ACCESS_KEY'],
  ],
  ovh: [
    ['ovhApplicationKey', 'OVH_APPLICATION_KEY'],
    ['ovhApplicationSecret', 'OVH_APPLICATION_SECRET'],
    ['ovhConsumerKey', 'OVH_CONSUMER_KEY'],
  ],
}

/** What else must be set for a transport: a line, or none. */
export function missingForSms({ kind }: SmsUrl, given: Credentials): string[] {
  if (kind === 'ovh' && ovhAddress(given.ovhEndpoint) === undefined)
    return ['OVH_ENDPOINT must be ovh-eu, ovh-ca or an address such as https://host/1.0']
  const missing = needed[kind].filter(([name]) => !given[name]).map(([, env]) => env)
  if (missing.length === 0) return []
  const [are, them] = missing.length === 1 ? ['is', 'it'] : ['are', 'them']
  return [`${missing.join(' and ')} ${are} missing; POSTHORN_SMS_TRANSPORT ${kind}:// needs ${them}`]
}
