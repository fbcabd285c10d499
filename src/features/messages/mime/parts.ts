// The tree of MIME parts of one message.
import { hash } from 'node:crypto'
import type { Mail, MailAttachment } from './compose.ts'
import { fold } from './fields.ts'
import { fallbackName, filenameParameters } from './parameters.ts'
import { base64Lines, type Encoded, encodeText } from './transfer.ts'

/** `head` holds its own header lines, `body` what follows the blank line; both are ASCII. */
export type Part = { head: string; body: string }

/** mixed(alternative(text, related(html, inline images)), attachments), each level only where needed. */
export function partOf(mail: Mail): Part {
  const seed = hash('sha256', mail.messageId, 'hex').slice(0, 32)
  const hasHtml = Boolean(mail.html) || (mail.html !== undefined && !mail.text)
  const isInline = ({ contentId }: MailAttachment) => hasHtml && contentId !== undefined
  const inline = mail.attachments.filter(isInline).map((each) => attachmentPart(each, 'inline'))
  const others = mail.attachments
    .filter((each) => !isInline(each))
    .map((each) => attachmentPart(each, 'attachment'))

  const alternatives: Part[] = []
  if (mail.text || !hasHtml) alternatives.push(textPart('plain', mail.text ?? ''))
  // RFC 2387 §3.1 asks for the type of the root.
  const related = (html: Part) => multipart('related; type="text/html"', `r${seed}`, [html, ...inline])
  if (hasHtml) alternatives.push(related(textPart('html', mail.html ?? '')))
  return multipart('mixed', `m${seed}`, [multipart('alternative', `a${seed}`, alternatives), ...others])
}

function textPart(subtype: 'plain' | 'html', text: string | Encoded): Part {
  const { encoding, body } = typeof text === 'string' ? encodeText(text) : text
  const head = `Content-Type: text/${subtype}; charset=utf-8\r\nContent-Transfer-Encoding: ${encoding}\r\n`
  return { head, body }
}

function multipart(kind: string, seed: string, parts: Part[]): Part {
  const [first, ...rest] = parts
  if (first && rest.length === 0) return first
  // Derived from the Message-ID, so that a resend is the same to the octet. No body can contain "=_": see transfer.ts.
  const boundary = `=_${seed}`
  const body = parts.map(({ head, body }) => `--${boundary}\r\n${head}\r\n${body}\r\n`).join('')
  return {
    head: `Content-Type: multipart/${kind};\r\n boundary="${boundary}"\r\n`,
    body: `${body}--${boundary}--\r\n`,
  }
}

function attachmentPart(attachment: MailAttachment, disposition: 'inline' | 'attachment'): Part {
  const { filename, content, contentId } = attachment
  let head = `${fold('Content-Type', typeTokens(attachment))}Content-Transfer-Encoding: base64\r\n`
  if (contentId !== undefined) head += `Content-ID: <${contentId.replace(/^<|>$/g, '')}>\r\n`
  head += fold('Content-Disposition', separated([` ${disposition}`, ...filenameParameters(filename)]))
  return { head, body: base64Lines(content) }
}

// RFC 2046 §5.2.1 and §5.1 forbid base64 for these, and a tree of parts inside would not be ours.
const composite = /^(message|multipart)\//i

function typeTokens({ contentType, filename }: MailAttachment): string[] {
  const [type = '', ...parameters] = contentType.split(/ ?; ?(?=(?:[^"]*"[^"]*")*[^"]*$)/)
  if (composite.test(type)) return [' application/octet-stream']
  const named = filename === '' || parameters.some((each) => /^name[*=]/i.test(each))
  const name = named ? [] : [`name="${fallbackName(filename)}"`]
  return separated([type, ...parameters, ...name].map((each) => ` ${each}`))
}

const separated = (tokens: string[]) =>
  tokens.map((token, i) => (i < tokens.length - 1 ? `${token};` : token))
