// What POSTHORN_TRANSPORT may say.
import { parseSmtpUrl } from '../adapters/smtp-transport/smtp-url.ts'

export type TransportUrl =
  | { kind: 'capture' }
  | { kind: 'smtp'; url: string; connections: number }
  | { kind: 'ses'; region: string; configurationSet: string | undefined }
  | { kind: 'scaleway'; region: string }

const forms = 'capture, smtp://user:password@host:port, smtps://…, ses://REGION or scaleway://REGION'

/** Throws with words that follow the name of the variable, and never repeats the value: it may hold a password. */
export function readTransportUrl(value: string): TransportUrl {
  if (value === 'capture') return { kind: 'capture' }
  const scheme = /^([a-z]+):\/\//.exec(value)?.[1]
  if (scheme === 'smtp' || scheme === 'smtps') return readSmtp(value)
  if (scheme !== 'ses' && scheme !== 'scaleway') throw new Error(`must be ${forms}`)
  const [, region, query = ''] = /^\w+:\/\/([a-z]{2}(?:-[a-z0-9]+)+)\/?(?:\?(.*))?$/.exec(value) ?? []
  const example = scheme === 'ses' ? 'eu-west-3' : 'fr-par'
  if (region === undefined) throw new Error(`must name a region, such as ${scheme}://${example}`)
  const options = new URLSearchParams(query)
  const known = scheme === 'ses' ? ['configuration-set'] : []
  const unknown = [...options.keys()].find((name) => !known.includes(name))
  if (unknown !== undefined) {
    const taken = known.length > 0 ? `only the option ${known.join(', ')}` : 'no options'
    throw new Error(`must have ${taken} behind the region of ${scheme}://`)
  }
  return scheme === 'ses'
    ? { kind: 'ses', region, configurationSet: nameOfSet(options) }
    : { kind: scheme, region }
}

function readSmtp(url: string): TransportUrl {
  try {
    return { kind: 'smtp', url, connections: parseSmtpUrl(url).connections }
  } catch (error) {
    throw new Error(`is not usable: ${error instanceof Error ? error.message : error}`, { cause: error })
  }
}

function nameOfSet(options: URLSearchParams): string | undefined {
  const name = options.get('configuration-set') ?? undefined
  if (name === undefined || /^[\w-]{1,64}$/.test(name)) return name
  throw new Error('must name its configuration-set with letters, digits, "-" and "_"')
}

export type Credentials = Partial<
  Record<
    'awsAccessKeyId' | 'awsSecretAccessKey' | 'scalewayKey' | 'scalewayProject' | 'scalewayDefaultProject',
    string
  >
>

/** What else must be set for a transport: a line, or none. */
export function missingFor(transport: TransportUrl, given: Credentials): string[] {
  const missing: string[] = []
  if (transport.kind === 'ses') {
    if (!given.awsAccessKeyId) missing.push('AWS_ACCESS_KEY_ID')
    if (!given.awsSecretAccessKey) missing.push('AWS_SECRET_ACCESS_KEY')
  }
  if (transport.kind === 'scaleway') {
    if (!given.scalewayKey) missing.push('SCW_SECRET_KEY')
    if (!given.scalewayDefaultProject && !given.scalewayProject) missing.push('SCW_DEFAULT_PROJECT_ID')
  }
  if (missing.length === 0) return []
  const [are, them] = missing.length === 1 ? ['is', 'it'] : ['are', 'them']
  return [`${missing.join(' and ')} ${are} missing; POSTHORN_TRANSPORT ${transport.kind}:// needs ${them}`]
}

/** Whoever forbids marketing mail never gets it. */
export const takesMarketing = ({ kind }: TransportUrl) => kind !== 'scaleway'

/** How many hand-overs may be under way at once, for each stream of mail. */
export function concurrencyOf(transport: TransportUrl): number {
  if (transport.kind === 'smtp') return transport.connections * 2
  return { capture: 20, ses: 10, scaleway: 5 }[transport.kind]
}
