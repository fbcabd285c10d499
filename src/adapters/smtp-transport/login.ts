import type { Channel } from './channel.ts'
import { failure, loginRefused, saidBy, unanswered } from './outcome.ts'
import type { Credentials } from './smtp-url.ts'

const base64 = (text: string) => Buffer.from(text, 'utf8').toString('base64')

type Mechanisms = Record<string, string[]>

/** The lines to say, one after each "334"; RFC 4616 for PLAIN, LOGIN and XOAUTH2 have no standard of their own. */
function mechanismsFor(credentials: Credentials): Mechanisms {
  const { user } = credentials
  if ('accessToken' in credentials) {
    const said = base64(`user=${user}\x01auth=Bearer ${credentials.accessToken}\x01\x01`)
    return { XOAUTH2: [`AUTH XOAUTH2 ${said}`] }
  }
  const { password } = credentials
  return {
    PLAIN: [`AUTH PLAIN ${base64(`\0${user}\0${password}`)}`],
    LOGIN: ['AUTH LOGIN', base64(user), base64(password)],
  }
}

export type Login = { credentials: Credentials; offered: string[]; replyMs: number }

export async function login(channel: Channel, { credentials, offered, replyMs }: Login): Promise<void> {
  const mechanisms = mechanismsFor(credentials)
  const mechanism = Object.keys(mechanisms).find((each) => offered.includes(each))
  if (mechanism === undefined) throw noCommonMechanism(offered, mechanisms)
  const lines = mechanisms[mechanism] ?? []
  for (const [at, line] of lines.entries()) {
    channel.write(`${line}\r\n`)
    const isLast = at === lines.length - 1
    const { reply, loss } = await answerTo(channel, { mechanism, isLast, replyMs })
    if (loss) throw failure(loss.said)
    if (reply.code !== (isLast ? 235 : 334))
      throw loginRefused(
        saidBy(reply, `the mail server refuses the login (AUTH ${mechanism}, ${reply.code}): `),
      )
  }
}

type Asked = { mechanism: string; isLast: boolean; replyMs: number }

/** A token that is refused brings a challenge with the reason first, which an empty line answers. */
async function answerTo(channel: Channel, { mechanism, isLast, replyMs }: Asked) {
  const answer = await channel.answer(replyMs)
  if (mechanism !== 'XOAUTH2' || !isLast || answer.reply?.code !== 334) return answer
  channel.write('\r\n')
  return channel.answer(replyMs)
}

const noCommonMechanism = (offered: string[], mechanisms: Mechanisms) =>
  failure(
    unanswered(
      offered.length === 0
        ? 'the mail server offers no login (AUTH) on this connection, but the address has a user and a password'
        : `the mail server offers no login by ${Object.keys(mechanisms).join(' or ')}, only by ${offered.join(', ')}`,
    ),
  )
