import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { until } from '../../../test/until.ts'
import { openFor, plain, talkTo } from './fixtures/testing.ts'

const megabytes = (count: number) => `${'x'.repeat(98)}\r\n`.repeat(count * 10_000)

test('large messages that come in take their part of the memory and no more, whoever else sends', async (t) => {
  const { port, mails } = await openFor(t, {
    maxBytes: 10_000_000,
    room: { ofOne: 12_000_000, ofAll: 40_000_000 },
  })
  const slow = await startData(t, port, 'first')
  slow.send(megabytes(6))
  const first = await startData(t, port, 'first')
  const again = async () => {
    const reply = await first.ask(`${megabytes(7)}.`)
    await begin(first)
    return reply
  }
  await until(async () => (await again())?.startsWith('452 4.3.1') === true, 'the refusal')
  const other = await startData(t, port, 'second')
  assert.match((await other.ask(`${megabytes(6)}.`)) ?? '', /^250/)
  const kept = mails.length
  assert.match((await slow.ask('.')) ?? '', /^250/)
  assert.match((await again()) ?? '', /^250/)
  assert.equal(mails.length, kept + 2)
  // Whoever leaves in the middle gives back what it had.
  first.send(megabytes(9))
  first.socket.destroy()
  const last = await startData(t, port, 'first')
  await until(async () => {
    const reply = await last.ask(`${megabytes(9)}.`)
    await begin(last)
    return reply?.startsWith('250') === true
  }, 'room')
})

type Client = Awaited<ReturnType<typeof talkTo>>

async function startData(t: TestContext, port: number, user: string): Promise<Client> {
  const client = await talkTo(t, port)
  await client.reply()
  await client.ask('EHLO client.test')
  assert.match((await client.ask(`AUTH PLAIN ${plain(user, 'secret')}`)) ?? '', /^235/)
  await begin(client)
  return client
}

async function begin(client: Client): Promise<void> {
  await client.ask('MAIL FROM:<a@b.example>')
  await client.ask('RCPT TO:<c@d.example>')
  assert.match((await client.ask('DATA')) ?? '', /^354/)
}
