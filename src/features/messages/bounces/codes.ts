import type { BounceClass } from './classes.ts'

// RFC 3463 and RFC 5248, with what large providers made of them. The key is subject.detail; the class digit (4 or 5)
// is judged apart.
const details: Record<string, BounceClass> = {
  '1.1': 'unknown_user',
  '1.2': 'unknown_host',
  '1.3': 'bad_address',
  '1.6': 'moved',
  '1.7': 'sender',
  '1.8': 'sender',
  // RFC 7505: the domain has a null MX. Microsoft says it for an unknown recipient, which is dead as well.
  '1.10': 'no_mail_host',
  '2.2': 'mailbox_full',
  '2.3': 'size',
  '3.1': 'mailbox_full',
  '3.4': 'size',
  // Microsoft: the DNS knows no such domain.
  '4.310': 'unknown_host',
  '7.8': 'credentials',
  // RFC 5248: the account is disabled.
  '7.13': 'inactive',
  // RFC 7293: the mailbox has another owner than the one written to.
  '7.17': 'moved',
  '7.28': 'rate',
}

// RFC 7372 (SPF, DKIM, reverse DNS), Gmail's own numbers, Microsoft's number for bulk senders. RFC 7505 gives 7.27 to a
// sender's domain with a null MX, Gmail to SPF: our side's fault either way.
const authentication = /^7\.(?:2[0-7]|29|30|31|32|40|509|515)$/

const subjects: Record<string, BounceClass> = {
  '3': 'temporary',
  '4': 'network',
  '5': 'policy',
  '6': 'content',
  '7': 'policy',
}

/** What the code alone says; nothing where it says too little, so that the text decides. */
export function classOfCode(code: string | undefined): BounceClass | undefined {
  const [, subject = '', detail = ''] = code?.split('.') ?? []
  const key = `${subject}.${detail}`
  return details[key] ?? (authentication.test(key) ? 'auth' : subjects[subject])
}

// Codes that servers put before any kind of refusal.
const vague = /^[45]\.(?:0\.\d+|1\.0|2\.[01]|3\.[0-35-9]|4\.[014]|5\.\d+|7\.(?:0|1|13))$/

export function isVague(code: string | undefined): boolean {
  return code === undefined || vague.test(code)
}

const enhanced = /(?<![\d.])[245]\.\d{1,3}\.\d{1,3}(?![\d.]*\d)/g

/** The most telling status code in a reply: the one given, unless it is vague and the text holds a better one. */
export function statusCode(given: string | null, text: string): string | undefined {
  const inText = [...text.matchAll(enhanced)].map(([code]) => code)
  const known = given && /^[245]\.\d{1,3}\.\d{1,3}$/.test(given) ? given : inText[0]
  if (known === undefined) return undefined
  const kin = [known, ...inText.filter((code) => code[0] === known[0])]
  return kin.find((code) => !isVague(code)) ?? known
}
