// Garbage at the relay, with and without a login: no failure inside, and the next good mail is taken.
import assert from 'node:assert/strict'
import { connect as connectPlainly } from 'node:net'
import { test } from 'node:test'
import { connect as connectSecurely } from 'node:tls'
import { pino } from 'pino'
import { makeRelayApp } from '../relay/relay-app.ts'
import { seedOr } from './barrage.ts'
import { type Dice, diceOf } from './dice.ts'
import { oddText } from './odd-values.ts'

const failures: string[] = []
const log = pino(
  { level: 'info' },
  { write: (line: string) => void (/"level":[56]0|relay\.error/.test(line) && failures.push(line)) },
)
const app = await makeRelayApp({ log, env: { POSTHORN_SMTPS_PORT: '0', POSTHORN_RATE_LIMIT_FACTOR: '1000' } })

const seed = seedOr(1)
const talks = 400

test('no conversation breaks the relay', async () => {
  let next = 0
  const talkOn = async () => {
    while (next < talks) await talk(next++)
  }
  await Promise.all(Array.from({ length: 8 }, talkOn))
  assert.deepEqual(failures, [], `POSTHORN_SEED=${seed}`)
  assert.equal((await app.send({})).rejected.length, 0)
})

/** Everything is written at once, as no client should; then the connection is cut, half closed or left open. */
async function talk(number: number): Promise<void> {
  const dice = diceOf(seed * 1_000_003 + number)
  const isPlain = dice.chance(0.3)
  const port = isPlain ? app.relay.port : (app.relay.securePort ?? 0)
  const options = { port, host: '127.0.0.1', rejectUnauthorized: false }
  const socket = isPlain ? connectPlainly(options) : connectSecurely(options)
  let said = ''
  socket.setEncoding('latin1').on('data', (chunk) => {
    said += chunk
  })
  const closed = new Promise<void>((resolve) => {
    socket.on('error', () => {}).on('close', () => resolve())
  })
  for (const line of linesOf(dice)) socket.write(line)
  if (dice.chance(0.6)) socket.end('QUIT\r\n')
  // Half of those that stay silent are cut off, the other half just wait for a while.
  const timer = setTimeout(() => socket.destroy(), dice.pick([100, 1_500]))
  await closed
  clearTimeout(timer)
  const odd = said.split('\r\n').filter((line) => line !== '' && !/^[2345]\d\d[ -]/.test(line))
  assert.deepEqual(odd, [], `POSTHORN_SEED=${seed}, talk ${number}`)
}

const login = `AUTH PLAIN ${Buffer.from(`\0apikey\0${app.key}`).toString('base64')}`
const good = ['EHLO me', login, 'MAIL FROM:<shop@example.com>', 'RCPT TO:<anna@example.com>', 'DATA']
const others = [
  'RSET',
  'NOOP',
  'HELO',
  'VRFY anna',
  'STARTTLS',
  'AUTH LOGIN',
  'AUTH PLAIN =',
  'BDAT 5',
  'HELP',
  '.',
  '*',
]
const letter = 'From: shop@example.com\r\nTo: anna@example.com\r\nSubject: Hello\r\n\r\nHi.\r\n.\r\n'

function linesOf(dice: Dice): Buffer[] {
  const lines = [...good.map((line) => `${line}\r\n`), letter].filter(() => dice.chance(0.93))
  for (let faults = dice.below(5); faults > 0; faults--) {
    const at = dice.below(lines.length + 1)
    if (dice.chance(0.5)) lines.splice(at, 0, oddLine(dice))
    else lines[Math.min(at, lines.length - 1)] = spoiled(lines[at] ?? 'DATA\r\n', dice)
  }
  return lines.map((line) => Buffer.from(line, dice.chance(0.5) ? 'utf8' : 'latin1'))
}

function oddLine(dice: Dice): string {
  const kind = dice.below(5)
  const end = dice.pick(['\r\n', '\n', '\r', ''])
  if (kind === 0) return `${dice.pick(others)}${end}`
  if (kind === 1)
    return `${dice.pick(['MAIL FROM:', 'RCPT TO:', 'EHLO ', 'AUTH PLAIN '])}${oddText(dice)}${end}`
  if (kind === 2)
    return Array.from({ length: 200 }, () => String.fromCharCode(dice.below(256))).join('') + end
  if (kind === 3)
    return `Subject: ${oddText(dice)}\r\nFrom: ${oddText(dice)}\r\n\r\n${oddText(dice)}\r\n.\r\n`
  return 'x'.repeat(dice.pick([600, 2_100, 60_000])) + end
}

function spoiled(line: string, dice: Dice): string {
  const at = dice.below(line.length)
  return (
    line.slice(0, at) + dice.pick(['\0', '\xff', '<', '>', ' ', '\r', '\n', '😀', '']) + line.slice(at + 1)
  )
}
