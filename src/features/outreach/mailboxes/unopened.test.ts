// A process that has another secret key than the one that the passwords of a mailbox were sealed with.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'
import { welcomingImap } from '../../../../test/stand-ins/welcoming-imap.ts'
import { env, mailServer, makeMailbox, makeOutreach, serverAt } from '../fixtures/outreach.ts'

const outreach = await makeOutreach()
const { databaseUrl } = outreach.app
const other = await makeApp({ databaseUrl, env: { ...env, POSTHORN_SECRET_KEY: '5e'.repeat(32) } })

test('a mailbox whose passwords cannot be opened says why, and works when they are given again', async (t) => {
  const server = await mailServer(t)
  const { key, call } = await outreach.makeAccount()
  const path = `/v3/outreach/mailboxes/${await makeMailbox({ key, call, accountId: '' }, server.port)}`
  const [smtp, imap] = [serverAt(server.port), serverAt(await welcomingImap())]
  for (const [method, to, body] of [
    ['POST', `${path}/test`, {}],
    ['PUT', path, { smtp }],
  ] as const) {
    const reply = await other.call(method, to, { key, body })
    assert.deepEqual([reply.status, reply.body.code], [503, 'secret_unopened'], `${method}: ${reply.text}`)
    assert.match(reply.body.message, /sealed with another secret key.*give the passwords of both servers/)
  }
  assert.equal((await other.call('PUT', path, { key, body: { smtp, imap } })).status, 204)
  assert.equal((await other.call('POST', `${path}/test`, { key })).body.smtp.ok, true)
})
