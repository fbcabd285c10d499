// What each refusal is called in SMTP. Codes: RFC 5321 §4.2, RFC 4954 §6, RFC 3463.
import { type Kind, Refusal } from '../../kernel/refusal.ts'

export type Stage = 'login' | 'sender' | 'recipient' | 'message'

type Codes = string | Record<Stage, string>

// A recipient is never 5.1.1: clients would strike the address off their lists for what is a rule of ours.
const policy: Codes = {
  login: '535 5.7.8',
  sender: '550 5.7.1',
  recipient: '550 5.7.1',
  message: '550 5.7.1',
}

const badInput: Codes = {
  login: '535 5.7.8',
  sender: '501 5.1.7',
  recipient: '501 5.1.3',
  message: '550 5.6.0',
}

const temporary = '451 4.3.0'

const byKind: Record<Kind, Codes> = {
  malformed: badInput,
  invalid: badInput,
  refused: policy,
  unauthenticated: { login: '535 5.7.8', sender: '530 5.7.0', recipient: '530 5.7.0', message: '530 5.7.0' },
  forbidden: policy,
  not_found: policy,
  method: policy,
  conflict: policy,
  too_large: '552 5.3.4',
  unsupported: '550 5.6.1',
  limited: { login: '421 4.7.0', sender: '451 4.7.1', recipient: '451 4.7.1', message: '451 4.7.1' },
  internal: temporary,
  unavailable: temporary,
}

const byCode: Record<string, string> = {
  sender_unverified: '550 5.7.1',
  // Temporary, so that the client's queue keeps the message until the cap opens again.
  daily_cap_reached: '452 4.7.1',
  monthly_quota_reached: '452 4.7.1',
}

/** The reply to anything thrown; what is not a refusal is a bug and its text stays with us. */
export function replyTo(error: unknown, stage: Stage): string {
  if (!(error instanceof Refusal)) return `${temporary} Something went wrong on our side, try again later`
  return `${codesOf(error, stage)} ${asciiLine(error.message + opening(error))}`
}

const opening = ({ told: { opensAt } }: Refusal) =>
  opensAt ? ` It resets at ${opensAt.toISOString().replace('.000', '')}.` : ''

function codesOf({ declaration }: Refusal, stage: Stage): string {
  const special = byCode[declaration.code]
  if (special !== undefined) return special
  const codes = byKind[declaration.kind]
  const found = typeof codes === 'string' ? codes : codes[stage]
  return declaration.retryable && found.startsWith('5') ? temporary : found
}

/** RFC 5321 §4.5.3.1.5: a reply line holds 512 octets; what is not printable ASCII could forge another reply. */
export function asciiLine(text: string): string {
  return text
    .slice(0, 1_000)
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .replace(/\s+/g, ' ')
    .replace(/[^ -~]/g, '?')
    .slice(0, 400)
    .trim()
}

/** Says goodbye after a reply that was still owed; a 421 may follow anything (RFC 5321 §3.8). */
export const andGoodbye = (reply: string, goodbye: string) => `${reply}\r\n${goodbye}`

export const isLast = (reply: string) => /(?:^|\n)(?:421|221) /.test(reply)

/** Faults of the conversation itself; a refused address or message is no fault of the client. */
export const isFault = (reply: string) => /^(?:50[0-4](?! 5\.1\.)|530|538|555)/.test(reply)

export const replies = {
  tooManyConnections: '421 4.3.2 Too many connections, try again later',
  tooManyFromAddress: '421 4.7.0 Too many connections from your address',
  shuttingDown: '421 4.3.2 The service is shutting down, try again later',
  tooManyErrors: '421 4.7.0 Too many errors',
  tooManyCommands: '421 4.7.0 Too many commands without a message',
  tooManyLogins: '421 4.7.0 Too many failed logins',
  timeout: '421 4.4.2 Timed out',
  unsynchronised: '421 4.7.0 Wait for the answer to DATA before you send the message',
  stillWorking: '421 4.4.2 The message is still being worked on, closing the connection',
  bye: '221 2.0.0 Bye',
  ok: '250 2.0.0 Ok',
  reset: '250 2.0.0 Forgotten',
  startTls: '220 2.0.0 Ready to start TLS',
  loggedIn: '235 2.7.0 Authenticated',
  verify: '252 2.0.0 Cannot verify, but will take a message for an authenticated client',
  help: '214 2.0.0 Authenticate, then send MAIL, RCPT and DATA as in RFC 5321',
  goAhead: '354 End the message with a line holding a single dot',
  lineTooLong: '500 5.5.2 Line too long',
  lineEnd: '500 5.5.2 Lines must end with CR LF',
  controlCharacter: '500 5.5.2 Control characters are not allowed',
  unknownCommand: '500 5.5.2 Unknown command',
  notOffered: '502 5.5.1 Command not offered',
  noArgument: '501 5.5.4 This command takes no argument',
  nameMissing: '501 5.5.4 Say who you are: EHLO your.host.name',
  helloFirst: '503 5.5.1 Send EHLO first',
  secureAlready: '503 5.5.1 TLS is active already',
  loggedInAlready: '503 5.5.1 Authenticated already',
  mailOpen: '503 5.5.1 A message is under way, send RSET to drop it',
  mailFirst: '503 5.5.1 Send MAIL first',
  noRecipients: '554 5.5.1 No valid recipients',
  tlsFirst: '530 5.7.0 Send STARTTLS first',
  loginFirst: '530 5.7.0 Authentication required',
  tlsBeforeLogin: '538 5.7.11 Encryption required, send STARTTLS first',
  unknownMechanism: '504 5.5.4 Use AUTH PLAIN or AUTH LOGIN',
  loginCancelled: '501 5.7.0 Authentication cancelled',
  loginMalformed: '501 5.5.2 Cannot decode the credentials',
  otherIdentity: '535 5.7.8 Acting for another identity is not allowed',
  unknownParameter: '555 5.5.4 Parameter not offered',
  badParameter: '501 5.5.4 Malformed parameter',
  senderSyntax: '501 5.1.7 Write MAIL FROM:<address>',
  recipientSyntax: '501 5.1.3 Write RCPT TO:<address>',
  notAscii: '553 5.6.7 Addresses must be ASCII here; write the domain in its xn-- form',
  tooManyRecipients: '452 4.5.3 Too many recipients for one message',
  tooLarge: '552 5.3.4 The message is too large',
  noRoom: '452 4.3.1 Too many large messages are coming in, try again later',
  bareLineEnd: '550 5.6.0 The message holds a CR or LF that is not part of a CR LF pair',
  nul: '550 5.6.0 The message holds a NUL character',
  longLine: '550 5.6.0 The message holds a line longer than 998 characters',
} as const
