// A key that may send from some domains only, and mailboxes of others.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Dovecot } from '../../../../test/stand-ins/dovecot.ts'
import { type Account, mailServer, makeMailbox, makeOutreach, makeSequence } from '../fixtures/outreach.ts'
import { makeOutreach as makeInbox } from '../watching/fixtures/outreach.ts'

const outreach = await makeOutreach()
const { app } = outreach

async function restricted({ accountId }: Account, senderDomains: string[]) {
  const { key } = await app.makeKey({ senderDomains }, accountId)
  return async (path: string, body: object) => {
    const reply = await app.call('POST', path, { key, body })
    return [reply.status, reply.body.code]
  }
}

const refused = [403, 'sender_domain_not_allowed']

test('such a key neither starts a sequence in one of those, nor brings it more people', async (t) => {
  const { port } = await mailServer(t)
  const account = await outreach.makeAccount()
  const acme = await makeMailbox(account, port)
  const globex = await makeMailbox(account, port, { email: 'me@globex.example' })
  const own = `/v3/outreach/campaigns/${await makeSequence(account, [acme])}`
  const both = `/v3/outreach/campaigns/${await makeSequence(account, [acme, globex])}`
  const prospects = { prospects: ['ann', 'bob'].map((name) => ({ email: `${name}@initech.example` })) }
  await account.call('POST', '/v3/outreach/prospects', prospects)
  const post = await restricted(account, ['acme.example'])
  const emails = (name: string) => ({ emails: [`${name}@initech.example`] })
  assert.deepEqual(await post(`${both}/enroll`, emails('ann')), [200, undefined])
  assert.deepEqual(await post(`${both}/status`, { status: 'running' }), refused)
  assert.deepEqual(await post(`${own}/status`, { status: 'running' }), [200, undefined])
  assert.deepEqual(await post(`${own}/enroll`, emails('ann')), [200, undefined])
  assert.equal((await account.call('POST', `${both}/status`, { status: 'running' })).status, 200)
  assert.deepEqual(await post(`${both}/enroll`, emails('bob')), refused)
  // Nothing is sent by that.
  assert.deepEqual(await post(`${both}/status`, { status: 'paused' }), [200, undefined])
  assert.deepEqual(await post(`${both}/status`, { status: 'running' }), refused)
})

test('nor does it answer from one of those', async () => {
  const account = await outreach.makeAccount()
  const inbox = makeInbox(app, { port: 9 } as Dovecot)
  const mailbox = await inbox.makeMailbox(account.accountId)
  const id = await inbox.makeReply(await inbox.writeTo(mailbox))
  const answer = async (domain: string) =>
    (await restricted(account, [domain]))(`/v3/outreach/inbox/${id}/reply`, { text: 'Gladly.' })
  assert.deepEqual(await answer('elsewhere.example'), refused)
  assert.deepEqual(await answer(mailbox.email.split('@')[1] ?? ''), [202, undefined])
})
