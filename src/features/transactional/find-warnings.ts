// What would not stop a message but hurts its delivery.
import { isDisposableEmailDomain } from 'disposable-email-domains-js'
import type { Ctx } from '../../kernel/ctx.ts'
import { domainOf } from '../../kernel/email-address.ts'
import { nearest } from '../../kernel/nearest.ts'
import type { Dns } from '../../kernel/ports.ts'
import { mailboxProviders } from '../domains/mailbox-providers.ts'
import { readMailHost } from '../domains/reading/read-mail-host.ts'
import { simulatorDomain } from '../messages/simulator.ts'
import { missingVariables, templateCache } from '../messages/templates/compile.ts'
import { linksOf } from '../messages/tracking/rewrite.ts'
import { contactScope } from './contact-scope.ts'
import type { Looked } from './find-blocking.ts'
import type { SendDraft } from './send-request.ts'
import { aboutSender, type DnsNeeds, says } from './sender-warnings.ts'
import { type Warning, warnIf } from './warning.ts'

const compiled = templateCache({ max: 100 })

export async function findWarnings(
  ctx: Ctx,
  needs: DnsNeeds,
  looked: Looked,
  size: number,
): Promise<Warning[]> {
  const { body } = looked
  const variables = await aboutVariables(ctx, body, looked)
  const found = await Promise.all([aboutRecipientDns(needs.dns, looked), aboutSender(ctx, needs, looked)])
  return [
    ...aboutRecipient(looked),
    ...aboutContent(body, looked, size),
    ...variables,
    ...aboutPlaceholders(body, looked),
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

function aboutRecipient({ recipient }: Looked): Warning[] {
  if (!recipient) return []
  const [domain, local] = [domainOf(recipient.email), recipient.email.split('@')[0]?.toLowerCase() ?? '']
  const meant = mailboxProviders.includes(domain) ? undefined : nearest(domain, mailboxProviders)
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

const isShort = (link: string) => {
  const [, host = ''] = /^https?:\/\/(?:www\.)?([^/?#:]+)/i.exec(link) ?? []
  return shorteners.has(host.toLowerCase())
}
// Mail programs make links of them.
const bareLinks = (text: string) => text.match(/\bhttps?:\/\/[a-z0-9.-]*[a-z0-9]/gi) ?? []

/** The part that links through a shortener. */
function shortenedIn(html: string, text: string): 'html' | 'text' | undefined {
  if ([...linksOf(html), ...bareLinks(html)].some(isShort)) return 'html'
  return bareLinks(text).some(isShort) ? 'text' : undefined
}

function aboutContent(body: SendDraft, { rendered }: Looked, size: number): Warning[] {
  if (!rendered) return []
  const html = rendered.html ?? ''
  const shortened = shortenedIn(html, rendered.text ?? '')
  const isImageOnly = /<img\b/i.test(html) && textAround(html).replaceAll(/&nbsp;|\s/g, '').length < 20
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
      { param: shortened },
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

async function aboutVariables(
  ctx: Ctx,
  body: SendDraft,
  { template, rendered, recipient }: Looked,
): Promise<Warning[]> {
  if (!rendered || (!template && body.params === undefined)) return []
  const sources: [string, 'html' | 'text'][] = [
    [body.subject ?? template?.subject ?? '', 'text'],
    [body.html || template?.html || '', 'html'],
    [body.text ?? '', 'text'],
    [body.from === undefined ? (template?.sender?.name ?? '') : '', 'text'],
  ]
  const texts = sources.map(([source]) => source)
  const scope = { params: body.params ?? {}, ...(await contactScope(ctx, recipient?.email, texts)) }
  const missing = new Set(
    sources.flatMap(([source, kind]) => missingVariables(compiled(source, kind), scope)),
  )
  return [...missing].map((name) => ({
    code: 'missing_variable',
    message: `The template reads ${name}, which is not given.`,
    param: 'params',
  }))
}

const placeholder = /\{\{-?\s*[a-z_][^{}]*\}\}|\{%[^%]*%\}/i

/** Contents that were meant as templates: they are only where there are params. */
function aboutPlaceholders({ params, subject, html, text }: SendDraft, { template }: Looked): Warning[] {
  if (template || params !== undefined) return []
  const fields = Object.entries({ subject, html, text })
  const raw = fields.flatMap(([param, source = '']) => {
    const [found] = placeholder.exec(source) ?? []
    return found === undefined ? [] : [{ param, found: found.slice(0, 80) }]
  })
  const [first] = raw
  if (!first) return []
  const names = raw.map(({ param }) => param).join(' and ')
  return [
    {
      code: 'placeholders_unrendered',
      message: `${names} would go out with ${first.found} as it stands: without params contents are no templates.`,
      param: first.param,
      hint: 'Give params, be it {}: then subject, html and text are templates.',
    },
  ]
}

const blockedTypes =
  /\.(ade|adp|apk|appx|bat|cab|chm|cmd|com|cpl|dll|dmg|exe|hta|iso|jar|js|jse|lnk|msi|ps1|reg|scr|vbe|vbs|wsf)$/i

function aboutAttachments({ attachments = [] }: SendDraft): Warning[] {
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
  // What is simulated has no server, and needs none.
  if (domain === simulatorDomain) return []
  const { state, remarks } = await readMailHost(dns, domain)
  const isWithout = says(state) || remarks.some(({ code }) => code === 'no_mx')
  return warnIf(isWithout, 'recipient_without_mx', `${domain} has no mail server.`, { param: 'to' })
}

/** What stands outside the tags; one that never ends is no tag. */
export function textAround(html: string): string {
  const kept: string[] = []
  for (let from = 0; ; ) {
    const start = html.indexOf('<', from)
    const end = start < 0 ? -1 : html.indexOf('>', start)
    if (end < 0) return kept.join('') + html.slice(from)
    kept.push(html.slice(from, start))
    from = end + 1
  }
}
