// What would not stop a message but hurts its delivery.
import { isDisposableEmailDomain } from 'disposable-email-domains-js'
import { domainOf } from '../../kernel/email-address.ts'
import { nearest } from '../../kernel/nearest.ts'
import type { Dns } from '../../kernel/ports.ts'
import { missingVariables, templateCache } from '../messages/templates/compile.ts'
import { linksOf } from '../messages/tracking/rewrite.ts'
import type { Looked } from './find-blocking.ts'
import type { SendRequest } from './send-request.ts'

export type Warning = { code: string; message: string; param?: string; hint?: string }

const compiled = templateCache({ max: 100 })

export async function findWarnings(
  dns: Dns,
  body: SendRequest,
  looked: Looked,
  size: number,
): Promise<Warning[]> {
  const found = await Promise.all([aboutRecipientDns(dns, looked), aboutSenderDns(dns, looked)])
  return [
    ...aboutRecipient(looked),
    ...aboutContent(body, looked, size),
    ...aboutVariables(body, looked),
    ...aboutAttachments(body),
    ...found.flat(),
  ]
}

const roles = new Set([
  'abuse',
  'admin',
  'hostmaster',
  'info',
  'noc',
  'postmaster',
  'root',
  'sales',
  'security',
  'support',
  'webmaster',
])
const commonDomains = [
  'gmail.com',
  'googlemail.com',
  'yahoo.com',
  'yahoo.fr',
  'outlook.com',
  'outlook.fr',
  'hotmail.com',
  'hotmail.fr',
  'live.com',
  'live.fr',
  'icloud.com',
  'orange.fr',
  'wanadoo.fr',
  'free.fr',
  'sfr.fr',
  'laposte.net',
  'gmx.de',
  'web.de',
]

function aboutRecipient({ recipient }: Looked): Warning[] {
  if (!recipient) return []
  const [domain, local] = [domainOf(recipient.email), recipient.email.split('@')[0]?.toLowerCase() ?? '']
  const meant = commonDomains.includes(domain) ? undefined : nearest(domain, commonDomains)
  const param = 'to'
  return [
    ...warnIf(roles.has(local), 'role_address', `${local}@ is usually read by several people.`, { param }),
    ...warnIf(
      isDisposableEmailDomain(domain),
      'disposable_domain',
      `${domain} gives out throw-away addresses.`,
      { param },
    ),
    ...warnIf(meant !== undefined, 'mistyped_domain', `${domain} looks mistyped.`, {
      param,
      hint: `Did you mean ${meant}?`,
    }),
  ]
}

const shorteners = new Set([
  'bit.ly',
  'tinyurl.com',
  't.co',
  'goo.gl',
  'ow.ly',
  'is.gd',
  'buff.ly',
  'rebrand.ly',
  'cutt.ly',
])
const longestSubject = 78
const clippedBytes = 102_400
const bulkTag = /newsletter|promo|marketing|campaign|digest/i

function aboutContent(body: SendRequest, { rendered }: Looked, size: number): Warning[] {
  if (!rendered) return []
  const html = rendered.html ?? ''
  const shortened = linksOf(html).find((link) => shorteners.has(new URL(link).hostname.replace(/^www\./, '')))
  const isImageOnly = /<img\b/i.test(html) && html.replaceAll(/<[^>]*>|&nbsp;|\s/g, '').length < 20
  const headers = Object.keys(body.headers ?? {}).map((name) => name.toLowerCase())
  const isBulk = bulkTag.test(body.tag ?? '') && !headers.includes('list-unsubscribe')
  return [
    ...warnIf(
      rendered.html !== undefined && rendered.text === undefined,
      'no_text_part',
      'There is no text part; one will be made from the HTML.',
      { param: 'text' },
    ),
    ...warnIf(
      shortened !== undefined,
      'link_shortener',
      'Links through shorteners are often taken for spam.',
      { param: 'html' },
    ),
    ...warnIf(isImageOnly, 'image_only', 'The body is an image with next to no text.', { param: 'html' }),
    ...warnIf(
      rendered.subject.length > longestSubject,
      'subject_too_long',
      `Subjects over ${longestSubject} characters are cut off.`,
      { param: 'subject' },
    ),
    ...warnIf(size > clippedBytes, 'message_clipped', `Gmail clips messages over ${clippedBytes} bytes.`, {
      param: 'html',
    }),
    ...warnIf(
      isBulk,
      'list_unsubscribe_missing',
      'Bulk mail without a List-Unsubscribe header is refused by large providers.',
      { param: 'headers' },
    ),
  ]
}

function aboutVariables(body: SendRequest, { template, rendered }: Looked): Warning[] {
  if (!rendered || (!template && body.params === undefined)) return []
  const scope = { params: body.params ?? {} }
  const sources: [string, 'html' | 'text'][] = [
    [body.subject ?? template?.subject ?? '', 'text'],
    [template?.html ?? body.html ?? '', 'html'],
    [body.text ?? '', 'text'],
  ]
  const missing = new Set(
    sources.flatMap(([source, kind]) => missingVariables(compiled(source, kind), scope)),
  )
  return [...missing].map((name) => ({
    code: 'missing_variable',
    message: `The template reads ${name}, which is not given.`,
    param: 'params',
  }))
}

const blockedTypes =
  /\.(ade|adp|apk|appx|bat|cab|chm|cmd|com|cpl|dll|dmg|exe|hta|iso|jar|js|jse|lnk|msi|ps1|reg|scr|vbe|vbs|wsf)$/i

function aboutAttachments({ attachments = [] }: SendRequest): Warning[] {
  return attachments.flatMap(({ filename }, i) =>
    warnIf(
      blockedTypes.test(filename),
      'attachment_blocked',
      `${filename} is of a type that large providers refuse.`,
      { param: `attachments[${i}]` },
    ),
  )
}

async function aboutRecipientDns(dns: Dns, { recipient }: Looked): Promise<Warning[]> {
  if (!recipient) return []
  const domain = domainOf(recipient.email)
  return warnIf((await dns.mx(domain)) === 'none', 'recipient_without_mx', `${domain} has no mail server.`, {
    param: 'to',
  })
}

async function aboutSenderDns(dns: Dns, { from }: Looked): Promise<Warning[]> {
  if (!from) return []
  const domain = domainOf(from.email)
  const [spf, dmarc] = await Promise.all([dns.txt(domain), dmarcOf(dns, domain)])
  const lacks = (found: typeof spf, start: RegExp) =>
    found === 'none' || (Array.isArray(found) && !found.some((text) => start.test(text)))
  return [
    ...warnIf(lacks(spf, /^v=spf1\b/i), 'domain_not_authenticated', `${domain} publishes no SPF record.`, {
      param: 'from',
    }),
    ...warnIf(lacks(dmarc, /^v=DMARC1\b/i), 'dmarc_missing', `${domain} publishes no DMARC record.`, {
      param: 'from',
    }),
  ]
}

/** A name without a record of its own has that of the next name above it (RFC 9989 §4.10). */
async function dmarcOf(dns: Dns, domain: string): ReturnType<Dns['txt']> {
  const found = await dns.txt(`_dmarc.${domain}`)
  const above = domain.slice(domain.indexOf('.') + 1)
  return found === 'none' && above.includes('.') ? dmarcOf(dns, above) : found
}

function warnIf(
  holds: boolean,
  code: string,
  message: string,
  more: Pick<Warning, 'param' | 'hint'>,
): Warning[] {
  return holds ? [{ code, message, ...more }] : []
}
