// One composer for all that leaves a mailbox, the steps of sequences and answers that a person wrote: its place in the
// thread, who writes, and the way out. Nothing is tracked: neither pixel nor rewritten links.
import type { Address } from '../../../kernel/email-address.ts'
import { type UnsubscribeKeys, writeUnsubscribeToken } from '../../contacts/unsubscribe/tokens.ts'
import { placeFooter, readGround } from '../../messages/footer/ground.ts'
import { composeMail } from '../../messages/mime/compose.ts'
import { textFromHtml } from '../../messages/mime/text-from-html.ts'
import { escapeHtml } from '../../messages/templates/values.ts'

export type Identity = { company_name: string; postal_address: string }

export type OutreachMail = {
  id: string
  /** With its angle brackets. */
  messageId: string
  from: Address
  to: Address
  subject: string
  text?: string
  html?: string
  /** The thread before it, the oldest first, with angle brackets. */
  refs: string[]
  identity: Identity
  unsubscribeUrl: string
  /** Where the address is from, told in the first message. */
  source?: string
  date: Date
}

/** The content as it is sent, for the record, and the octets. */
export type Composed = { raw: Buffer; subject: string; text: string; html?: string }

/** Throws a template fault where the footer would not be seen. */
export function composeOutreach(mail: OutreachMail): Composed {
  const { subject, from, to, messageId, date } = mail
  const html = mail.html === undefined ? undefined : withHtmlFooter(mail.html, mail)
  const text = withTextFooter(mail.text ?? textFromHtml(mail.html ?? ''), mail)
  const raw = composeMail({
    from,
    to: [to],
    subject,
    text,
    html,
    headers: headersOf(mail),
    attachments: [],
    messageId,
    date,
  })
  return { raw, subject, text, html }
}

/** Of all mail of the account: whoever asks to be left alone hears from none of its sequences again. */
export function unsubscribeUrlOf(
  { baseUrl, keys }: { baseUrl: string; keys: UnsubscribeKeys },
  { accountId, email }: { accountId: string; email: string },
): string {
  return `${baseUrl}/u/${writeUnsubscribeToken(keys, { accountId, email })}`
}

/** The subject of an answer in a thread that began with this one. */
export function replySubject(first: string): string {
  return /^re:/i.test(first) ? first : `Re: ${first}`
}

function headersOf({ id, refs, unsubscribeUrl }: OutreachMail): [string, string][] {
  const last = refs.at(-1)
  return [
    ...(last === undefined ? [] : ([['In-Reply-To', last]] as [string, string][])),
    ...(last === undefined ? [] : ([['References', refs.join(' ')]] as [string, string][])),
    ['List-Unsubscribe', `<${unsubscribeUrl}>`],
    ['List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'],
    // Some providers write a Message-ID of their own; the copy in the mailbox is then found by this.
    ['X-Posthorn-Id', id],
  ]
}

const leave = 'Unsubscribe'
const fromWhere = (source: string) => `We have your address from: ${source}`

function footerLines({ identity, source }: OutreachMail): string[] {
  const lines = [identity.company_name, ...identity.postal_address.split(/\r?\n/)]
  return [...lines, ...(source ? [fromWhere(source)] : [])].map((line) => line.trim()).filter(Boolean)
}

function withTextFooter(text: string, mail: OutreachMail): string {
  const link = text.includes(mail.unsubscribeUrl) ? [] : [`${leave}: ${mail.unsubscribeUrl}`]
  return `${text.trimEnd()}\n\n-- \n${[...footerLines(mail), ...link].join('\n')}\n`
}

function withHtmlFooter(html: string, mail: OutreachMail): string {
  const ground = readGround(html, [mail.unsubscribeUrl])
  const link = ground.isLinked ? [] : [`<a href="${mail.unsubscribeUrl}">${leave}</a>`]
  const lines = [...footerLines(mail).map(escapeHtml), ...link].join('<br>')
  return placeFooter(html, `<p style="font-size:12px;color:#666">${lines}</p>`, ground)
}
