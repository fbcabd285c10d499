import type { IncomingMail } from './parse-mail.ts'

/** Sent by a machine. RFC 3834 §5 and what was there before it; headers alone decide. */
export function isAutomatic({ headers }: Pick<IncomingMail, 'headers'>): boolean {
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
