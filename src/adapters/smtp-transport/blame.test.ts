import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Outcome } from '../../kernel/ports.ts'
import { type Habits, serve } from './fixtures/scripted-server.ts'
import { numbered, openFor } from './fixtures/sending.ts'

const faultOf = (outcome: Outcome) => (outcome.kind === 'deferred' ? outcome.fault : outcome.kind)

/** Says it at the verb to the transaction of the message with this number, and takes all others. */
function refuses(number: number, verb: string, says: string): Habits['on'] {
  const bad = new Map<number, boolean>()
  return (command, peer) => {
    if (command.startsWith('RCPT')) bad.set(peer.number, command.includes(`to-${number}@`))
    return bad.get(peer.number) && command.startsWith(verb) ? says : undefined
  }
}

test('what the server says to one message, and takes all others, is about that message', async (t) => {
  const cases = [
    ['RCPT', '421 4.7.0 not that one'],
    ['DATA', '421 4.7.0 not that one'],
    ['RCPT', '530 5.7.0 log in first'],
    ['RCPT', '535 5.7.8 who are you'],
    ['RCPT', '199 x'],
  ] as const
  for (const offers of [[], ['PIPELINING']]) {
    for (const [verb, says] of cases) {
      const server = await serve(t, { offers, on: refuses(1, verb, says) })
      const transport = openFor(t, server)
      const told: string[] = []
      for (const number of [0, 1, 2, 1]) told.push(faultOf(await transport.send(numbered(number))))
      assert.deepEqual(told, ['accepted', 'message', 'accepted', 'message'], `${verb} ${says}`)
      assert.deepEqual(
        // Where the server took DATA without a recipient it got an empty text.
        server.received.flatMap(({ to }) => to || []),
        ['to-0@example.org', 'to-2@example.org'],
      )
    }
  }
})

test('a message that is alone is blamed when it meets the same again', async (t) => {
  const server = await serve(t, { on: refuses(1, 'RCPT', '421 4.7.0 not that one') })
  const transport = openFor(t, server)
  const told = [await transport.send(numbered(1)), await transport.send(numbered(1))]
  assert.deepEqual(told.map(faultOf), ['transport', 'message'])
})

test('a server that says it to everybody takes nobody’s mail, and one message at most pays for it', async (t) => {
  let isBusy = false
  const on: Habits['on'] = (command) =>
    isBusy && command.startsWith('MAIL') ? '421 4.7.0 slow down' : undefined
  const server = await serve(t, { on })
  const transport = openFor(t, server)
  assert.equal((await transport.send(numbered(0))).kind, 'accepted')
  isBusy = true
  const round = () => Promise.all([1, 2, 3].map((number) => transport.send(numbered(number))))
  const told = [...(await round()), ...(await round()), ...(await round())].map(faultOf)
  assert.deepEqual(told.sort(), ['message', ...Array(8).fill('transport')])
})
