import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import { openSink } from '../../../test/faults/sink.ts'
import { sparePort } from '../../../test/spare-port.ts'
import { until } from '../../../test/until.ts'
import { serve } from '../../adapters/smtp-transport/fixtures/scripted-server.ts'
import { sendingWith } from './fixtures/sending.ts'

const port = await sparePort()
const env = { POSTHORN_TRANSPORT: `smtp://127.0.0.1:${port}?tls=off`, POSTHORN_RETRY_FACTOR: '0.02' }
const app = await makeApp({ deliver: true, env })

const health = async () => (await app.call('GET', '/api/v1/health')).body

test('health tells what the upstream does with the mail', async () => {
  const { status, transport } = await health()
  assert.deepEqual([status, transport], ['ok', { kind: 'smtp', state: 'unknown' }])
  const body = { from: 'shop@example.com', to: 'anna@example.org', subject: 'Hello', text: 'Hi.' }
  const { body: sent } = await app.call('POST', '/api/v1/transactional/send', { body })
  const failing = await until(async () => {
    const found = await health()
    return found.status === 'degraded' ? found : undefined
  }, 'the upstream to be known as failing')
  assert.match(failing.transport.message, /ECONNREFUSED/)
  assert.match(failing.transport.since, /^\d{4}-.*Z$/)
  assert.equal(failing.queue.depth, 1)
  assert.equal(typeof failing.queue.oldest_s, 'number')

  const sink = await openSink(() => {}, port)
  after(() => sink.close())
  await until(
    async () => (await app.call('GET', `/api/v1/messages/${sent.id}`)).body.status === 'sent' || undefined,
    'the message to be taken',
  )
  const well = await until(async () => {
    const found = await health()
    return found.status === 'ok' ? found : undefined
  }, 'the upstream to be known as well')
  assert.deepEqual(well.transport, { kind: 'smtp', state: 'ok' })
  assert.deepEqual(well.queue, { depth: 0, oldest_s: null })
})

test('an upstream that puts off one message after the other is failing, until it takes or refuses one', async (t) => {
  let isBusy = true
  const busy = (command: string) => `451 4.3.0 the queue is full (${command.replace('MAIL ', '')})`
  const server = await serve(t, {
    on: (command) => (isBusy && command.startsWith('MAIL') ? busy(command) : undefined),
  })
  const service = await makeApp({
    deliver: true,
    env: { POSTHORN_TRANSPORT: `${server.url}?tls=off`, POSTHORN_RETRY_FACTOR: '0.02' },
  })
  const { send, settled } = sendingWith(service)
  const other = await service.makeAccount()
  const transport = async () =>
    (await service.call('GET', '/api/v1/health', { key: other.key })).body.transport
  async function putOff(number: number): Promise<string> {
    const { body } = await send({ to: `anna${number}@example.org` })
    const read = async () => (await service.call('GET', `/api/v1/messages/${body.id}`)).body.last_error
    await until(async () => (await read()) !== null || undefined, 'the message to be put off')
    return body.id
  }
  const ids = [await putOff(1), await putOff(2), await putOff(3), await putOff(4)]
  assert.equal((await transport()).state, 'unknown')
  ids.push(await putOff(5))
  const failing = await until(async () => {
    const found = await transport()
    return found.state === 'failing' ? found : undefined
  }, 'the upstream to be known as failing')
  assert.equal(failing.message, 'the queue is full (FROM:<[address]>)')

  isBusy = false
  await settled(ids[0] ?? '', ['sent'])
  await until(async () => (await transport()).state === 'ok' || undefined, 'the upstream to be known as well')
})

test('an upstream that does not know the sender condemns no recipient', async (t) => {
  const server = await serve(t, {
    on: (command) => (command.startsWith('MAIL') ? '550 5.1.1 User unknown' : undefined),
  })
  const refused = await makeApp({ deliver: true, env: { POSTHORN_TRANSPORT: `${server.url}?tls=off` } })
  const { send, settled } = sendingWith(refused)
  const { body } = await send({ to: 'anna@example.org' })
  const { last_error, events } = await settled(body.id, ['failed'])
  assert.equal(last_error.code, 'sender')
  assert.deepEqual(
    events.map(({ type, bounce_type }: { type: string; bounce_type: string }) => [type, bounce_type]),
    [['bounce', 'soft']],
  )
  const { body: suppressions } = await refused.call('GET', '/api/v1/suppressions')
  assert.deepEqual(suppressions.data, [])
})
