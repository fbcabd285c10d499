import type { IncomingMail } from './parse-mail.ts'

const daemons = /^(mailer-daemon|postmaster|mail-daemon|mailerdaemon|mdaemon)@/
const nameless = /\b(mailer-daemon|postmaster|mail-daemon|mailerdaemon|mdaemon)\b/i

/** What servers write stands under one of these names, sometimes without a domain. */
export function isDaemon({ from, headers }: Pick<IncomingMail, 'headers' | 'from'>): boolean {
  return from === null ? nameless.test(headers.get('from') ?? '') : daemons.test(from)
}

/** Sent by a machine. RFC 3834 §5 and what was there before it; headers alone decide. */
export function isAutomatic(mail: Pick<IncomingMail, 'headers' | 'from'>): boolean {
  const { headers } = mail
  // A receipt, or a notice that is neither a bounce nor a complaint: nobody wrote it, whatever words it has.
  if (isReport(headers) || isDaemon(mail)) return true
  const value = (name: string) => headers.get(name)?.trim().toLowerCase()
  const submitted = value('auto-submitted')
  if (submitted !== undefined && !/^no\b/.test(submitted)) return true
  const isSet = ['x-autoreply', 'x-autorespond', 'x-autoresponder'].some(
    (name) => !['no', 'false', undefined].includes(value(name)),
  )
  if (isSet || /^auto[_-]?reply/.test(value('precedence') ?? '')) return true
  // Alone it says little: ticket systems set it on what people wrote.
  const isByRule = headers.has('x-ms-exchange-inbox-rules-loop')
  if (isByRule && /\ball\b/.test(value('x-auto-response-suppress') ?? '')) return true
  return value('return-path') === '<>'
}

export const isReport = (headers: IncomingMail['headers']) =>
  /^\s*multipart\/report\b/i.test(headers.get('content-type') ?? '')
