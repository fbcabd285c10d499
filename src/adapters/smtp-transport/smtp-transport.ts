import { isAscii } from 'node:buffer'
import type { Handover, Outcome, Transport } from '../../kernel/ports.ts'
import type { Server } from './connect.ts'
import { saidBy } from './outcome.ts'
import { openPool } from './pool.ts'
import { openSession, quit } from './session.ts'
import { parseSmtpUrl } from './smtp-url.ts'
import { pathOf, wireOf } from './wire.ts'

export { type ParsedSmtpUrl, parseSmtpUrl } from './smtp-url.ts'

export type SmtpTransportOptions = {
  /**
   * smtp://user:password@host:port or smtps://…, user and password percent-encoded. Options behind "?":
   * `connections` (10), `messages` per connection (100), `name` for EHLO, `tls` required, opportunistic or off.
   */
  url: string
  ca?: string | Buffer
  /** `finalMs`: for the answer to the final dot. */
  timeouts?: { connectMs?: number; replyMs?: number; finalMs?: number; idleMs?: number }
}

// RFC 5321 4.5.3.2.6: a server may look through a message for minutes; giving up before it is done makes doubles.
const longestFinalMs = 10 * 60_000

/** Hands messages to a mail server by SMTP, over connections that stay open between messages. */
export function openSmtpTransport({ url, ca, timeouts = {} }: SmtpTransportOptions): Transport {
  const { connectMs = 10_000, replyMs = 60_000, finalMs = longestFinalMs, idleMs = 20_000 } = timeouts
  const server: Server = { ...parseSmtpUrl(url), ...(ca ? { ca } : {}), connectMs, replyMs, finalMs, idleMs }
  const pool = openPool(server)
  let closing: Promise<void> | undefined
  const close = () => {
    closing ??= pool.close()
    return closing
  }
  return {
    kind: 'smtp',
    signs: false,
    takesMarketing: true,
    // One on its way and one behind it on each connection, so that no connection waits for us.
    concurrency: server.connections * 2,
    async send({ id, envelopeFrom, recipient, raw }: Handover): Promise<Outcome> {
      const from = envelopeFrom === '' ? '' : pathOf(envelopeFrom)
      const to = pathOf(recipient)
      const wire = wireOf(raw)
      const job = { id, from, to, size: raw.length, wire, isAscii: isAscii(raw), retried: false }
      return new Promise((settle) => {
        pool.add({ ...job, settle })
      })
    },
    verify: () => verify(server),
    letGo() {
      close()
    },
    close,
  }
}

async function verify(server: Server): Promise<void> {
  const { channel } = await openSession(server, new AbortController().signal)
  channel.write('NOOP\r\n')
  const { reply, loss } = await channel.answer(server.replyMs)
  await quit(channel, server.replyMs)
  if (loss) throw new Error(loss.said.message)
  if (reply.code !== 250) throw new Error(saidBy(reply, 'the mail server is not ready: ').message)
}
