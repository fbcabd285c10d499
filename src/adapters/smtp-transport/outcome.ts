import type { Outcome, Said } from '../../kernel/ports.ts'
import { printable, type Reply } from './replies.ts'

const enhanced = /^([245]\.\d{1,3}\.\d{1,3})(?: |$)/

export function saidBy(reply: Reply, before = ''): Said {
  const lines = reply.lines.map(printable)
  const enhancedCode = enhanced.exec(lines[0] ?? '')?.[1] ?? null
  const text = lines.map((line) => line.replace(enhanced, '')).join(' ')
  return { smtpCode: reply.code, enhancedCode, message: `${before}${text.trim() || reply.code}` }
}

export const unanswered = (message: string): Said => ({
  smtpCode: null,
  enhancedCode: null,
  message: message.replace(/\s+/g, ' ').trim(),
})

export const shuttingDown = unanswered('the sender is shutting down')

export type Failure = Error & { said: Said }

/** Why no connection came about. */
export const failure = (said: Said): Failure => Object.assign(new Error(said.message), { said })

/** Why the server did not let us in; a temporary trouble of its own is no such thing. */
export const loginRefused = (said: Said): Failure =>
  Object.assign(failure(said), { isLogin: said.smtpCode !== null && said.smtpCode >= 500 })

export const isLoginRefused = (error: unknown) =>
  error instanceof Error && 'isLogin' in error && error.isLogin === true

export const saidOf = (error: unknown): Said =>
  error instanceof Error && 'said' in error ? (error as Failure).said : unanswered(String(error))

export const deferredByTransport = (said: Said, retryAfterMs?: number): Outcome => ({
  kind: 'deferred',
  fault: 'transport',
  ...(retryAfterMs ? { retryAfterMs: Math.ceil(retryAfterMs) } : {}),
  ...said,
})

// 421: RFC 5321 3.8. 454: RFC 4954 6 and 3207 4, and Amazon's word for too fast. The 53x: RFC 4954 6.
// None of them speaks of the message.
const transportCodes = [421, 454, 530, 534, 535, 538]

/** What a reply to MAIL, RCPT, DATA or the end of data comes to; undefined when it cannot be one. */
export function outcomeOf(reply: Reply, stage?: 'mail'): Outcome | undefined {
  const at = stage ? { stage } : {}
  if (transportCodes.includes(reply.code)) return deferredByTransport(saidBy(reply))
  if (reply.code >= 500) return { kind: 'rejected', ...saidBy(reply), ...at }
  if (reply.code >= 400) return { kind: 'deferred', fault: 'message', ...saidBy(reply), ...at }
  if (reply.code < 300) return accepted(reply)
  return undefined
}

function accepted(reply: Reply): Outcome {
  const response = `${reply.code} ${reply.lines.map(printable).join(' ')}`.trim()
  return { kind: 'accepted', upstreamId: queueIdIn(response), response }
}

// Postfix and its kin; Exim; Amazon, whose events name the message by this identifier.
const queueIds = [/\bqueued as <?([\w.@+-]+)/i, /\bid=([\w.@+-]+)/, /^250 Ok ([\da-f-]{30,})$/i]

function queueIdIn(response: string): string | null {
  for (const pattern of queueIds) {
    const found = pattern.exec(response)?.[1]
    if (found !== undefined) return found
  }
  return null
}

export const tooLarge = (size: number, limit: number): Outcome => ({
  kind: 'rejected',
  smtpCode: 552,
  enhancedCode: '5.3.4',
  message: `the message has ${size} bytes, the mail server takes at most ${limit}`,
})
