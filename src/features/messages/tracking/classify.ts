import { isIPv6 } from 'node:net'
import { isbot } from 'isbot'
import { isScannerNetwork } from './scanner-networks.ts'

export type ActivityHit = {
  kind: 'open' | 'click'
  userAgent: string | undefined
  ip: string
  method: string
  /** Names in lower case. */
  headers: Record<string, string | undefined>
  at: Date
  sentAt: Date | null
  deliveredAt: Date | null
  /** Different links of the message that were clicked within a second, this one counted. */
  recentClicks?: number
}

/** Stable words, kept with the event. */
export type ActivityReason =
  | 'method_not_get'
  | 'prefetch_header'
  | 'apple_mail_privacy'
  | 'apple_private_relay'
  | 'gmail_prefetch'
  | 'google_image_proxy'
  | 'yahoo_image_proxy'
  | 'empty_user_agent'
  | 'security_scanner'
  | 'robot_user_agent'
  | 'many_links_at_once'
  | 'before_delivery'
  | 'too_soon_after_delivery'
  | 'scanner_network'
  | 'link_gateway'
  | 'mail_client'
  | 'ordinary'

export type Activity = { classification: 'human' | 'privacy_proxy' | 'robot'; reason: ActivityReason }

export type Networks = {
  /** Whether an address belongs to Apple's relay. People browse through it too: it speaks for opens only. */
  isPrivateRelay?: (ip: string) => boolean
}

// Seconds after delivery within which no person acts.
export const tooSoon = { openMs: 2_000, clickMs: 5_000, clickFromScannerNetworkMs: 60_000 }
// So many links of one message within so short a time are followed by a machine, the first of them too.
export const burst = { differentLinks: 2, withinMs: 1_000 }

/** Whether a person, a proxy that loads every image, or a machine did this. */
export function classifyActivity(hit: ActivityHit, networks: Networks = {}): Activity {
  const unseen = unseenBy(hit)
  if (unseen) return { classification: 'robot', reason: unseen }
  const proxy = privacyProxy(hit, networks)
  if (proxy) return { classification: 'privacy_proxy', reason: proxy }
  // A person behind the proxy of a mailbox provider; the list of robots takes their word "proxy" for a robot.
  const image = imageProxy(hit)
  if (image) return { classification: 'human', reason: image }
  const machine = machineAgent(hit) ?? machineBehaviour(hit)
  if (machine) return { classification: 'robot', reason: machine }
  return { classification: 'human', reason: humanReason(hit) }
}

// Nobody saw anything, whoever asked.
function unseenBy({ method, headers }: ActivityHit): ActivityReason | undefined {
  if (method.toUpperCase() !== 'GET') return 'method_not_get'
  const purpose = [headers.purpose, headers['sec-purpose'], headers['x-purpose'], headers['x-moz']].join(' ')
  return /prefetch|prerender|preview/i.test(purpose) ? 'prefetch_header' : undefined
}

// Gmail loads the images of some messages ahead under this name; the reader's own loading says GoogleImageProxy.
const gmailPrefetch = /Chrome\/42\.0\.2311\.135 Safari\/537\.36 Edge\/12\.246 Mozilla\/5\.0$/

function privacyProxy(
  { kind, userAgent = '', ip }: ActivityHit,
  networks: Networks,
): ActivityReason | undefined {
  if (kind !== 'open') return undefined
  if (userAgent.trim() === 'Mozilla/5.0') return 'apple_mail_privacy'
  if (gmailPrefetch.test(userAgent)) return 'gmail_prefetch'
  return networks.isPrivateRelay?.(plainIp(ip)) ? 'apple_private_relay' : undefined
}

function imageProxy({ kind, userAgent = '' }: ActivityHit): ActivityReason | undefined {
  if (kind !== 'open') return undefined
  if (/\bGoogleImageProxy\b/.test(userAgent)) return 'google_image_proxy'
  return /\bYahooMailProxy\b/.test(userAgent) ? 'yahoo_image_proxy' : undefined
}

const scanners = new RegExp(
  [
    'barracuda|proofpoint|urldefense|mimecast|ironport|\\bcisco\\b|\\btmes\\b|trend ?micro|symantec|messagelabs',
    'sophos|forti(?:net|mail|guard)|zscaler|checkpoint|harmony email|fireeye|trellix|forcepoint|vade ?secure',
    'mailguard|avanan|bitdefender|kaspersky|virustotal|urlscan|safe ?browsing|phish|spamtitan',
  ].join('|'),
  'i',
)

// The list of robots knows browsers only: it takes the short names of mail programs for robots.
const mailClients = new RegExp(
  `\\b(?:${[
    'ms-office|msoffice|microsoft o(?:ffice|utlook)|outlook-(?:ios|android)|macoutlook|thunderbird|airmail',
    'samsungemail|samsung email|k-9 mail|fairemail|em client|spark(?: desktop)?\\/|lotus-notes|hcl notes',
    'the bat!|postbox|mailspring|bluemail|edison mail|yahoomobilemail|protonmail|evolution\\/',
  ].join('|')})`,
  'i',
)

function machineAgent({ userAgent = '' }: ActivityHit): ActivityReason | undefined {
  if (userAgent.trim() === '') return 'empty_user_agent'
  if (scanners.test(userAgent)) return 'security_scanner'
  return !mailClients.test(userAgent) && isbot(userAgent) ? 'robot_user_agent' : undefined
}

function machineBehaviour(hit: ActivityHit): ActivityReason | undefined {
  const { kind, at, sentAt, deliveredAt, recentClicks = 0 } = hit
  if (recentClicks >= burst.differentLinks) return 'many_links_at_once'
  const arrived = deliveredAt ?? sentAt
  if (!arrived) return undefined
  const after = at.getTime() - arrived.getTime()
  if (after < 0) return 'before_delivery'
  if (after < (kind === 'click' ? tooSoon.clickMs : tooSoon.openMs)) return 'too_soon_after_delivery'
  const isScanner = kind === 'click' && after < tooSoon.clickFromScannerNetworkMs
  return isScanner && isScannerNetwork(plainIp(hit.ip)) ? 'scanner_network' : undefined
}

function humanReason({ kind, userAgent = '', headers }: ActivityHit): ActivityReason {
  const isGateway = kind === 'click' && /\.safelinks\.protection\.outlook\.com\b/i.test(headers.referer ?? '')
  if (isGateway) return 'link_gateway'
  return mailClients.test(userAgent) ? 'mail_client' : 'ordinary'
}

const plainIp = (ip: string) => (isIPv6(ip) ? ip.replace(/^::ffff:(?=\d+\.)/i, '') : ip)
