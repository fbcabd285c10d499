// Customers' mailboxes over IMAP, read only.
import type { LookupFunction } from 'node:net'
import type { ImapFlow } from 'imapflow'
import { isLoopback } from '../../kernel/allowed-address.ts'
import { type AddressGuard, type Found, resolveAllowed } from '../../kernel/guarded-lookup.ts'
import type { MailboxReader, MailServer, OpenMailbox } from '../../kernel/mailbox-ports.ts'
import { within } from '../../kernel/within.ts'
import { faultOf, late } from './fault.ts'
import { openFolders } from './folders.ts'

export type ImapOptions = AddressGuard & {
  /** For everything that is not waiting for mail. */
  timeoutMs?: number
  /** Who may vouch for servers, beside whom the system trusts. */
  ca?: string
}

const usualTimeoutMs = 60_000
const longestLine = 1024 * 1024
const largestLiteral = 8 * 1024 * 1024

export function openImap(options: ImapOptions): MailboxReader {
  return {
    open: (server) => open(server, options),
    test: async (server) => {
      try {
        const mailbox = await open(server, { ...options, timeoutMs: 20_000 })
        mailbox.close()
        return undefined
      } catch (error) {
        return (error as Error).message
      }
    },
  }
}

async function open(server: MailServer, options: ImapOptions): Promise<OpenMailbox> {
  const timeoutMs = options.timeoutMs ?? usualTimeoutMs
  let client: ImapFlow | undefined
  try {
    client = await clientOf(server, await resolveAllowed(server.host, options), { ...options, timeoutMs })
    await within(timeoutMs, client.connect(), () => late(server))
    return await openFolders(client, { server, timeoutMs })
  } catch (error) {
    // After a login that failed the connection would stay.
    client?.close()
    throw faultOf(error, server)
  }
}

async function clientOf(server: MailServer, found: Found[], options: ImapOptions): Promise<ImapFlow> {
  const { timeoutMs, ca } = options
  // At its first need: it takes thirty megabytes, and most services watch no mailbox.
  const { ImapFlow } = await import('imapflow')
  const { host, port, secure, credentials } = server
  const { user, ...secret } = credentials
  const auth = 'password' in secret ? { user, pass: secret.password } : { user, ...secret }
  // As for sending: only on this very machine may a password go unencrypted.
  const isHere = isLoopback(host)
  const client = new ImapFlow({
    host,
    port,
    secure,
    auth,
    logger: false,
    disableAutoIdle: true,
    ...(!secure && !isHere && { doSTARTTLS: true }),
    tls: { lookup: alwaysThese(found), rejectUnauthorized: secure || !isHere, ...(ca && { ca }) } as object,
    connectionTimeout: timeoutMs,
    greetingTimeout: timeoutMs,
    // Waiting for mail is silence; every other exchange has a deadline of ours.
    socketTimeout: 30 * 60_000,
    maxLineLength: longestLine,
    maxLiteralSize: largestLiteral,
    maxResponseSize: 2 * largestLiteral,
  })
  // Whatever goes wrong is heard by the call that it goes wrong for.
  client.on('error', () => {})
  return client
}

/** The addresses that were checked, whatever the name leads to by now. */
function alwaysThese(found: Found[]): LookupFunction {
  return (_host, options, callback) => {
    const [first] = found
    if (options.all) callback(null, found)
    else callback(null, first?.address ?? '', first?.family ?? 4)
  }
}
