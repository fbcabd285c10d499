import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'

async function declaring(allowPrivate: 'true' | 'false') {
  const app = await makeApp({ env: { POSTHORN_OUTREACH_ALLOW_PRIVATE: allowPrivate } })
  await app.call('PUT', '/api/v1/settings', { body: { outreach_enabled: true } })
  return (smtp: string, imap = smtp) => {
    const server = { port: 1, password: 'x' }
    const body = { email: 'a@acme.example', smtp: { host: smtp, ...server }, imap: { host: imap, ...server } }
    return app.call('POST', '/v3/outreach/mailboxes', { body })
  }
}

const [anywhere, outside] = [await declaring('true'), await declaring('false')]

test('a mailbox at an address that is never connected to is not declared', async () => {
  for (const host of ['169.254.169.254', '0.0.0.0', '::ffff:127.0.0.1']) {
    const { status, body } = await anywhere(host)
    assert.deepEqual([status, body.message], [400, `${host} is not a public address`], host)
  }
  assert.equal((await anywhere('127.0.0.1', '169.254.169.254')).status, 400)
})

test('one at a private address is declared where these are allowed', async () => {
  assert.equal((await outside('127.0.0.1')).body.message, '127.0.0.1 is not a public address')
  assert.equal((await anywhere('127.0.0.1')).status, 201)
})
