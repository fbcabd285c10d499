// The relay of the built command, as a user starts it.
import assert from 'node:assert/strict'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { makeEmptyDatabase } from '../processes/empty-database.ts'
import { begin, makePlace, type Service, start } from '../processes/posthorn.ts'
import { sparePort } from '../spare-port.ts'
import { until } from '../until.ts'
import { aMail, mailerFor } from './relay-app.ts'

const key = 'the-key-of-the-relay-in-a-process'
const [port, securePort] = [await sparePort(), await sparePort()]
const place = await makePlace({
  DATABASE_URL: await makeEmptyDatabase(),
  POSTHORN_API_KEY: key,
  POSTHORN_SMTP_PORT: String(port),
  POSTHORN_SMTPS_PORT: String(securePort),
})
let service: Service
after(() => service?.end('SIGKILL'))

test('the service starts with its relay and says where it is', async () => {
  service = await start(place)
  assert.match(
    service.out(),
    new RegExp(`  SMTP      127\\.0\\.0\\.1:${port} \\(user apikey, password your key\\)\n`),
  )
  const { body } = await service.call('GET', '/v3/account', { key })
  assert.deepEqual(body.relay, { enabled: true, data: { userName: 'apikey', relay: '127.0.0.1', port } })
  assert.equal((await stat(join(place.dataDir, 'tls-key.pem'))).mode & 0o777, 0o600)
})

test('messages over both ports are taken and delivered', async () => {
  const mailers = [mailerFor(port, key), mailerFor(securePort, key, { secure: true, requireTLS: false })]
  for (const mailer of mailers) {
    const { response } = await mailer.sendMail(aMail)
    const id = response.replace('250 2.0.0 queued as ', '')
    await until(async () => {
      const { body } = await service.call('GET', `/api/v1/messages/${id}`, { key })
      return body.status === 'delivered'
    }, 'the delivery')
  }
})

test('it stops with a client connected that says nothing', async () => {
  const mailer = mailerFor(port, key, { pool: true })
  await mailer.sendMail(aMail)
  const started = performance.now()
  assert.equal((await service.end('SIGTERM')).code, 0)
  assert.ok(performance.now() - started < 5_000)
  mailer.close()
})

test('a relay alone serves no HTTP; its messages wait for a worker', async () => {
  service = await start(place, '--role', 'smtp')
  await assert.rejects(service.call('GET', '/livez'))
  assert.match((await mailerFor(port, key).sendMail(aMail)).response, /^250 /)
  assert.equal((await service.end('SIGTERM')).code, 0)
})

test('half of a certificate stops the start in a line that names the setting', async () => {
  const failed = begin({
    ...place,
    env: { ...place.env, POSTHORN_TLS_CERT: '/x', POSTHORN_LOG_LEVEL: 'silent' },
  })
  assert.equal((await failed.ended).code, 1)
  assert.equal(failed.err(), 'posthorn: POSTHORN_TLS_KEY is missing; POSTHORN_TLS_CERT is set\n')
})
