import type { Channel } from './channel.ts'
import { failure, saidBy, unanswered } from './outcome.ts'

type Credentials = { user: string; password: string }

const base64 = (text: string) => Buffer.from(text, 'utf8').toString('base64')

/** The lines to say, one after each "334"; RFC 4616 for PLAIN, LOGIN has no standard of its own. */
const mechanisms: Record<string, (credentials: Credentials) => string[]> = {
  PLAIN: ({ user, password }) => [`AUTH PLAIN ${base64(`\0${user}\0${password}`)}`],
  LOGIN: ({ user, password }) => ['AUTH LOGIN', base64(user), base64(password)],
}

export type Login = { credentials: Credentials; offered: string[]; replyMs: number }

export async function login(channel: Channel, { credentials, offered, replyMs }: Login): Promise<void> {
  const mechanism = Object.keys(mechanisms).find((each) => offered.includes(each))
  if (mechanism === undefined) throw noCommonMechanism(offered)
  const lines = mechanisms[mechanism]?.(credentials) ?? []
  for (const [at, line] of lines.entries()) {
    channel.write(`${line}\r\n`)
    const { reply, loss } = await channel.answer(replyMs)
    if (loss) throw failure(loss.said)
    if (reply.code !== (at === lines.length - 1 ? 235 : 334))
      throw failure(saidBy(reply, `the mail server refuses the login (AUTH ${mechanism}, ${reply.code}): `))
  }
}

const noCommonMechanism = (offered: string[]) =>
  failure(
    unanswered(
      offered.length === 0
        ? 'the mail server offers no login (AUTH) on this connection, but the address has a user and a password'
        : `the mail server offers no login by PLAIN or LOGIN, only by ${offered.join(', ')}`,
    ),
  )
