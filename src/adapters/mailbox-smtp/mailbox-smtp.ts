// The SMTP server of a customer's mailbox: one connection a message, since messages of a mailbox are minutes apart.
import { type AddressGuard, resolveAllowed } from '../../kernel/guarded-lookup.ts'
import type { MailboxOutcome, MailboxSender, MailServer, MailStage } from '../../kernel/mailbox-ports.ts'
import type { Said } from '../../kernel/ports.ts'
import type { Server } from '../smtp-transport/connect.ts'
import { isLoginRefused, outcomeOf, saidOf, unanswered } from '../smtp-transport/outcome.ts'
import { openSession, quit, type Session } from '../smtp-transport/session.ts'
import { tlsModeOf } from '../smtp-transport/smtp-url.ts'
import { pathOf, wireOf } from '../smtp-transport/wire.ts'

export type MailboxSmtpOptions = {
  guard: AddressGuard
  ca?: string | Buffer
  timeouts?: { connectMs?: number; replyMs?: number }
}

type Letter = { from: string; to: string; wire: string; size: number }

export function openMailboxSmtp(options: MailboxSmtpOptions): MailboxSender {
  return {
    async send(server, { from, to, raw }) {
      const letter = { from: pathOf(from), to: pathOf(to), wire: wireOf(raw), size: raw.length }
      const opened = await open(options, server)
      if ('refused' in opened) return opened.refused
      try {
        return await handOver(opened.session, letter)
      } finally {
        await quit(opened.session.channel, opened.session.replyMs)
      }
    },
    async test(server) {
      const opened = await open(options, server)
      if ('refused' in opened) return opened.refused.message
      await quit(opened.session.channel, opened.session.replyMs)
      return undefined
    },
  }
}

type Refused = Extract<MailboxOutcome, { kind: 'login_refused' | 'deferred' }>
type Opened = { session: Session } | { refused: Refused }

async function open(options: MailboxSmtpOptions, server: MailServer): Promise<Opened> {
  try {
    const session = await openSession(await serverOf(options, server), new AbortController().signal)
    return { session }
  } catch (error) {
    const told = error instanceof Error && !('said' in error) ? unanswered(error.message) : saidOf(error)
    const said = { ...told, message: inOurTerms(told.message) }
    if (isLoginRefused(error)) return { refused: { kind: 'login_refused', ...said } }
    return { refused: { kind: 'deferred', stage: null, ...said } }
  }
}

async function serverOf(
  { guard, ca, timeouts = {} }: MailboxSmtpOptions,
  server: MailServer,
): Promise<Server> {
  const { host, port, secure, credentials } = server
  const { connectMs = 10_000, replyMs = 60_000 } = timeouts
  return {
    host,
    port,
    addresses: await resolveAllowed(host, guard),
    tls: secure ? 'implicit' : tlsModeOf('smtp:', undefined, host),
    credentials,
    connections: 1,
    messages: 1,
    name: null,
    ...(ca ? { ca } : {}),
    connectMs,
    replyMs,
    finalMs: 2 * replyMs,
    idleMs: replyMs,
  }
}

// The transport speaks of its address; a mailbox has settings.
function inOurTerms(message: string): string {
  return message
    .replace(
      'a port that expects TLS at once needs smtps://',
      'a port that expects TLS at once needs secure: true',
    )
    .replace('use smtp:// for this port', 'use secure: false for this port')
    .replace(' (if it may go unencrypted, add "tls=off")', '')
}

const stages: MailStage[] = ['mail', 'rcpt', 'data']

async function handOver(session: Session, letter: Letter): Promise<MailboxOutcome> {
  const { channel, replyMs, finalMs, sizeLimit } = session
  const size = sizeLimit === null ? '' : ` SIZE=${letter.size}`
  const commands = [`MAIL FROM:<${letter.from}>${size}`, `RCPT TO:<${letter.to}>`, 'DATA']
  for (const [at, stage] of stages.entries()) {
    channel.write(`${commands[at]}\r\n`)
    const { reply, loss } = await channel.answer(replyMs)
    if (loss) return { kind: 'deferred', stage: null, ...loss.said }
    const isWelcome = stage === 'data' ? reply.code === 354 : reply.code < 300
    if (!isWelcome) return refusedBy(outcomeOf(reply), stage)
  }
  channel.write(letter.wire)
  // RFC 5321 4.5.3.2.6: a server may take its time over the final dot.
  const { reply, loss } = await channel.answer(finalMs)
  if (loss) return { kind: 'uncertain', ...loss.said }
  return refusedBy(outcomeOf(reply), 'data')
}

function refusedBy(outcome: ReturnType<typeof outcomeOf>, stage: MailStage): MailboxOutcome {
  switch (outcome?.kind) {
    case 'accepted':
      return { kind: 'accepted', response: outcome.response }
    case 'rejected':
      return { ...outcome, stage }
    case 'deferred':
      return deferred(outcome, stage)
    default:
      return { kind: 'uncertain', ...unanswered('the mail server gave an answer that means nothing') }
  }
}

function deferred({ smtpCode, enhancedCode, message }: Said, stage: MailStage): MailboxOutcome {
  const said = { smtpCode, enhancedCode, message }
  // RFC 4954 6: the server wants another login than it got.
  const isLogin = smtpCode !== null && smtpCode >= 530 && smtpCode <= 538
  return isLogin ? { kind: 'login_refused', ...said } : { kind: 'deferred', stage, ...said }
}
