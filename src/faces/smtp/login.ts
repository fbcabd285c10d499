// AUTH (RFC 4954) with PLAIN (RFC 4616) and LOGIN, which is obsolete and still what many clients send.
import { isUtf8 } from 'node:buffer'
import { setTimeout as delay } from 'node:timers/promises'
import { newUuid, showId } from '../../kernel/id.ts'
import type { Client, Step } from './client.ts'
import { logFailure } from './failures.ts'
import { andGoodbye, replies, replyTo } from './replies.ts'

// Every failure is answered at this moment after its start, so that the time tells nothing about the reason.
const failureMs = 300
const maxFailedLogins = 3

export function auth(client: Client, argument: string): Step {
  if (client.session) return replies.loggedInAlready
  if (!client.secure && !client.relay.options.allowPlainAuth) return replies.tlsBeforeLogin
  if (!client.greeted) return replies.helloFirst
  const [mechanism = '', initial, ...more] = argument.split(/ +/)
  const start = mechanisms[mechanism.toUpperCase()]
  if (!start || more.length > 0) return replies.unknownMechanism
  return start(client, initial)
}

const mechanisms: Record<string, (client: Client, initial: string | undefined) => Step> = {
  PLAIN: (client, initial) => (initial === undefined ? ask(client, '', plain) : plain(client, initial)),
  LOGIN: (client, initial) =>
    initial === undefined ? ask(client, 'Username:', userName) : userName(client, initial),
}

function ask(client: Client, prompt: string, next: (client: Client, line: string) => Step): string {
  client.answerNext = (line) => (line === '*' ? replies.loginCancelled : next(client, line))
  return `334 ${Buffer.from(prompt).toString('base64')}`
}

function plain(client: Client, encoded: string): Step {
  const parts = decode(encoded)?.split('\0')
  const [identity, user, password] = parts ?? []
  if (parts?.length !== 3 || identity === undefined || user === undefined || password === undefined)
    return replies.loginMalformed
  if (hasControls(identity) || hasControls(user) || hasControls(password)) return replies.loginMalformed
  if (identity !== '' && identity !== user) return replies.otherIdentity
  return logIn(client, user, password)
}

function userName(client: Client, encoded: string): Step {
  const user = decode(encoded)
  if (user === undefined || hasControls(user)) return replies.loginMalformed
  return ask(client, 'Password:', (_, line) => {
    const password = decode(line)
    if (password === undefined || hasControls(password)) return replies.loginMalformed
    return logIn(client, user, password)
  })
}

/** A lone = stands for the empty string (RFC 4954 §4). */
function decode(encoded: string): string | undefined {
  if (encoded === '=') return ''
  if (encoded.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(encoded)) return undefined
  const octets = Buffer.from(encoded, 'base64')
  return isUtf8(octets) ? octets.toString('utf8') : undefined
}

const hasControls = (text: string) => /\p{Cc}/u.test(text)

async function logIn(client: Client, user: string, password: string): Promise<string> {
  const due = performance.now() + failureMs
  const requestId = showId('req', newUuid())
  try {
    client.session = { is: await client.relay.options.login({ user, password, ip: client.ip, requestId }) }
    client.relay.log({ event: 'relay.login', ip: client.ip, requestId })
    return replies.loggedIn
  } catch (error) {
    logFailure(client, 'login', error, requestId)
    await delay(Math.max(0, due - performance.now()))
    return failed(client, replyTo(error, 'login'))
  }
}

function failed(client: Client, reply: string): string {
  if (!reply.startsWith('535')) return reply
  client.failedLogins += 1
  return client.failedLogins < maxFailedLogins ? reply : andGoodbye(reply, replies.tooManyLogins)
}
