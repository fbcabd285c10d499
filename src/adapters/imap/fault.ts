import { MailboxFault, type MailServer } from '../../kernel/mailbox-ports.ts'

type ImapError = Error & {
  code?: string
  authenticationFailed?: boolean
  responseText?: string
  serverResponseCode?: string
}

export const late = ({ host }: MailServer) =>
  new MailboxFault('unreachable', `${host} did not answer in time`)

export const gone = ({ host }: MailServer) => new MailboxFault('unreachable', `${host} closed the connection`)

// Trouble of the server's own, RFC 5530: the same login may be right in a minute.
const passing = new Set(['UNAVAILABLE', 'INUSE', 'LIMIT', 'CONTACTADMIN', 'SERVERBUG'])

/** In words for the owner of the mailbox. */
export function faultOf(error: unknown, { host }: MailServer): MailboxFault {
  if (error instanceof MailboxFault) return error
  const { message, code, authenticationFailed, responseText, serverResponseCode } = error as ImapError
  const said = clean(responseText)
  if (authenticationFailed && !passing.has(serverResponseCode ?? ''))
    return new MailboxFault('login', `${host} refused the login${said ? `: ${said}` : ''}`)
  if (/certificate|altname|self.signed/i.test(`${code} ${message}`))
    return new MailboxFault('unreachable', `the certificate of ${host} is not trusted: ${clean(message)}`)
  if (message === 'Server does not support STARTTLS')
    return new MailboxFault('unreachable', `${host} offers no STARTTLS: the password is not sent unencrypted`)
  if (/WRONG_VERSION_NUMBER|PACKET_LENGTH_TOO_LONG/.test(code ?? ''))
    return new MailboxFault(
      'unreachable',
      `${host} does not speak TLS from the start: use secure: false for this port`,
    )
  return new MailboxFault('unreachable', `${host}: ${said || clean(message) || code || 'no connection'}`)
}

const clean = (text: string | undefined) =>
  (text ?? '')
    .toWellFormed()
    .replaceAll(/[\p{Cc}\s]+/gu, ' ')
    .trim()
    .slice(0, 300)
