// A mailbox that cannot be logged in to: somebody has to hear of it, and only as long as it is so.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mailServer, makeMailbox, makeOutreach, serverAt } from '../fixtures/outreach.ts'

const outreach = await makeOutreach()

test('one that is declared with a wrong password is told of until it is mended or deleted', async (t) => {
  const account = await outreach.makeAccount()
  const { port } = await mailServer(t)
  const wrong = { smtp: serverAt(port, 'wrong') }
  const openNotices = async () => (await account.call('GET', '/api/v1/notices?open=true')).body.data
  const first = await makeMailbox(account, port, { ...wrong, email: 'first@acme.example' })
  const [notice] = await openNotices()
  assert.deepEqual([notice.code, notice.subject], ['mailbox_paused', 'first@acme.example'])
  assert.match(notice.message, /was paused: The SMTP server does not work: .*wrong password\. Mend it/)
  const second = await makeMailbox(account, port, { ...wrong, email: 'second@acme.example' })
  assert.equal((await openNotices()).length, 2)
  const mended = await account.call('PUT', `/v3/outreach/mailboxes/${first}`, { smtp: serverAt(port) })
  const deleted = await account.call('DELETE', `/v3/outreach/mailboxes/${second}`)
  assert.deepEqual([mended.status, deleted.status], [204, 204])
  assert.deepEqual(await openNotices(), [])
})

test('the notice has one full stop where the server’s own words end with one', async (t) => {
  const account = await outreach.makeAccount()
  const on = (command: string) =>
    command.startsWith('AUTH') ? '535 5.7.8 Authentication failed.' : undefined
  const { port } = await mailServer(t, { on })
  await makeMailbox(account, port)
  const [notice] = (await account.call('GET', '/api/v1/notices?open=true')).body.data
  assert.match(notice.message, /Authentication failed\. Mend it, then set its state to active\.$/)
})

test('a server that says nothing but stops keeps nobody waiting', async (t) => {
  const account = await outreach.makeAccount()
  const line = '.'.repeat(4_000)
  const words = [...Array.from({ length: 120 }, () => `535-${line}`), '535 no'].join('\r\n')
  const { port } = await mailServer(t, { on: (command) => (command.startsWith('AUTH') ? words : undefined) })
  const started = performance.now()
  await makeMailbox(account, port)
  assert.ok(performance.now() - started < 5_000)
  const [notice] = (await account.call('GET', '/api/v1/notices?open=true')).body.data
  assert.ok(notice.message.length < 2_000, `${notice.message.length}`)
})
