import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'
import type { Dovecot } from '../../../../test/stand-ins/dovecot.ts'
import { row, text, texts } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import { unsubscribe } from '../../contacts/unsubscribe/unsubscribe.ts'
import { suppress } from '../../suppressions/suppressions.ts'
import { makeOutreach } from '../watching/fixtures/outreach.ts'

const app = await makeApp()
const outreach = makeOutreach(app, { port: 9 } as Dovecot)
const mailbox = await outreach.makeMailbox()
const { db } = app.pools
const path = '/v3/outreach/inbox'

const change = (id: string, body: object) => app.call('PUT', `${path}/${id}`, { body })
const read = async (id: string) => (await app.call('GET', `${path}/${id}`)).body

describe('the inbox', () => {
  test('lists replies by what they are, page by page, and never bounces', async () => {
    const { accountId, key } = await app.makeAccount()
    const own = await outreach.makeMailbox(accountId)
    const written = await outreach.writeTo(own)
    const ids: string[] = []
    for (const classification of ['interested', 'refusal', null] as const)
      ids.push(await outreach.makeReply(written, { classification, text: 'x'.repeat(20_000) }))
    await outreach.makeReply(written, { kind: 'bounce' })
    const list = (query: string) => app.call('GET', `${path}?${query}`, { key })
    const all = (await list('')).body
    assert.deepEqual([all.count, all.replies.length, all.replies[0].text.length], [3, 3, 10_000])
    const first = (await list('limit=2')).body
    assert.deepEqual(
      first.replies.map(({ id }: { id: number }) => String(id)),
      [ids[2], ids[1]],
    )
    const second = (await list(`limit=2&cursor=${first.next_cursor}`)).body
    assert.deepEqual([second.replies[0].id, second.next_cursor], [Number(ids[0]), null])
    assert.equal((await list('classification=interested')).body.count, 1)
    assert.equal((await list('classification=none')).body.count, 1)
    assert.equal(
      (await list(`sequenceId=${written.sequenceId}&prospectId=${written.prospectId}`)).body.count,
      3,
    )
    assert.equal((await list('mailboxId=9007199254740991&state=new')).body.count, 0)
    assert.equal((await list('state=lost')).status, 400)
    assert.equal((await app.call('GET', `${path}/${ids[0]}`)).status, 404)
    assert.equal((await app.call('GET', `${path}/99999999999999999999`)).status, 400)
  })

  test('an account without the module has none', async () => {
    const { key } = await app.makeAccount()
    const reply = await app.call('GET', path, { key })
    assert.deepEqual([reply.status, reply.body.code], [403, 'module_disabled'])
    assert.match(reply.body.message, /outreach_enabled/)
  })

  test('what a person says stays, and suppresses when it is a wish to leave', async () => {
    const written = await outreach.writeTo(mailbox)
    const id = await outreach.makeReply(written, { sender: 'aide@x.example' })
    assert.equal((await change(id, { classification: 'unsubscribe', state: 'archived' })).status, 204)
    const { classification, confidence, state } = await read(id)
    assert.deepEqual([classification, confidence, state], ['unsubscribe', 1, 'archived'])
    for (const email of [written.email, 'aide@x.example'])
      assert.equal(await outreach.suppressed(app.accountId, email), 'unsubscribe')
    assert.equal((await outreach.enrolment(written)).reason, 'unsubscribed')
    const answer = await app.call('POST', `${path}/${id}/reply`, { body: { text: 'But wait' } })
    assert.deepEqual([answer.status, answer.body.code], [422, 'recipient_suppressed'])
    assert.equal((await change(id, { classification: null })).status, 204)
    assert.equal((await read(id)).classification, null)
    for (const email of [written.email, 'aide@x.example'])
      assert.equal(await outreach.suppressed(app.accountId, email), undefined)
  })

  test('a correction lifts only what the reply brought about', async () => {
    const written = await outreach.writeTo(mailbox)
    const why = { reason: 'unsubscribe', source: 'link', messageId: null, at: new Date() } as const
    await suppress(db, { accountId: app.accountId, email: written.email }, why)
    const id = await outreach.makeReply(written)
    await change(id, { classification: 'unsubscribe' })
    await change(id, { classification: 'interested' })
    assert.equal(await outreach.suppressed(app.accountId, written.email), 'unsubscribe')
    const asked = await outreach.writeTo(mailbox)
    const [first, second] = [await outreach.makeReply(asked), await outreach.makeReply(asked)]
    for (const each of [first, second]) await change(each, { classification: 'unsubscribe' })
    await change(first, { classification: 'refusal' })
    assert.equal(await outreach.suppressed(app.accountId, asked.email), 'unsubscribe')
  })

  test('a contact of the person leaves and comes back with the wish, unless it left in another way', async () => {
    const statusOf = async (email: string) => (await app.call('GET', `/v3/contacts/${email}`)).body.status
    const written = await outreach.writeTo(mailbox)
    await app.call('POST', '/v3/contacts', { body: { email: written.email } })
    const id = await outreach.makeReply(written)
    await change(id, { classification: 'unsubscribe' })
    assert.equal(await statusOf(written.email), 'unsubscribed')
    await change(id, { classification: 'interested' })
    assert.equal(await statusOf(written.email), 'subscribed')
    const { history } = (await app.call('GET', `/v3/contacts/${written.email}/history`)).body
    assert.deepEqual(
      history.map(({ attribute, newValue, source }: Record<string, unknown>) => [
        attribute,
        newValue,
        source,
      ]),
      [
        ['STATUS', 'subscribed', 'reply'],
        ['STATUS', 'unsubscribed', 'reply'],
        ['EMAIL', written.email, 'api'],
      ],
    )
    await app.call('PUT', `/v3/contacts/${written.email}`, { body: { emailBlacklisted: true } })
    await change(id, { classification: 'unsubscribe' })
    await change(id, { classification: 'interested' })
    assert.equal(await statusOf(written.email), 'unsubscribed')
  })

  test('who leaves in another way too stays left when the answer is corrected', async () => {
    const { accountId } = app
    const at = new Date()
    const ways: [string, (email: string) => Promise<unknown>][] = [
      ['link', (email) => unsubscribe(db, { accountId, email }, at)],
      ['by hand', (email) => app.call('POST', '/api/v1/suppressions', { body: { email } })],
      [
        'blacklisted',
        (email) => app.call('PUT', `/v3/contacts/${email}`, { body: { emailBlacklisted: true } }),
      ],
    ]
    for (const [name, leave] of ways)
      for (const isContact of name === 'blacklisted' ? [true] : [true, false]) {
        const written = await outreach.writeTo(mailbox)
        const { email } = written
        if (isContact) await app.call('POST', '/v3/contacts', { body: { email } })
        const id = await outreach.makeReply(written)
        await change(id, { classification: 'unsubscribe' })
        await leave(email)
        await change(id, { classification: 'interested' })
        assert.equal(await outreach.suppressed(accountId, email), 'unsubscribe', name)
        const { body } = await app.call('GET', `/v3/contacts/${email}`)
        if (isContact) assert.equal(body.status, 'unsubscribed', name)
      }
  })

  test('who was suppressed before and clicks after the answer is not subscribed by its correction', async () => {
    const { accountId } = app
    const written = await outreach.writeTo(mailbox)
    const { email } = written
    await app.call('POST', '/v3/contacts', { body: { email } })
    const why = { reason: 'hard_bounce', source: 'smtp', messageId: null, at: new Date() } as const
    await suppress(db, { accountId, email }, why)
    const id = await outreach.makeReply(written)
    await change(id, { classification: 'unsubscribe' })
    await unsubscribe(db, { accountId, email }, new Date())
    await change(id, { classification: 'interested' })
    assert.equal((await app.call('GET', `/v3/contacts/${email}`)).body.status, 'unsubscribed')
  })

  test('a bounce of outreach stays one, whoever suppresses the address after it', async () => {
    const email = 'bounced-before@x.example'
    const why = { reason: 'hard_bounce', source: 'outreach', messageId: null, at: new Date() } as const
    await suppress(db, { accountId: app.accountId, email }, why)
    await app.call('POST', '/api/v1/suppressions', { body: { email } })
    const [found] = (await app.call('GET', `/api/v1/suppressions?email=${email}`)).body.data
    assert.deepEqual([found.reason, found.source], ['hard_bounce', 'outreach'])
  })

  test('a refusal ends all sequences of the person', async () => {
    const written = await outreach.writeTo(mailbox)
    const other = await outreach.writeTo(mailbox, { email: written.email })
    await change(await outreach.makeReply(written), { classification: 'refusal' })
    assert.equal((await outreach.enrolment(other)).reason, 'refused')
  })

  test('an absence that was an answer after all ends the sequences, where an answer does', async () => {
    const absence = { kind: 'automatic', classification: 'absence' } as const
    const written = await outreach.writeTo(mailbox)
    const other = await outreach.writeTo(mailbox, { email: written.email })
    const id = await outreach.makeReply(written, absence)
    await change(id, { state: 'read' })
    assert.equal((await outreach.enrolment(written)).state, 'active')
    await change(id, { classification: 'interested' })
    assert.equal((await outreach.enrolment(written)).reason, 'replied')
    assert.equal((await outreach.enrolment(other)).reason, 'replied')
    const patient = await outreach.writeTo(mailbox, { stopOnReply: false })
    await change(await outreach.makeReply(patient, absence), { classification: 'interested' })
    assert.equal((await outreach.enrolment(patient)).state, 'active')
  })

  test('bad changes are refused, empty ones change nothing', async () => {
    const id = await outreach.makeReply(await outreach.writeTo(mailbox))
    for (const body of [{ classification: 'maybe' }, { state: 'gone' }, { state: 7 }])
      assert.equal((await change(id, body)).status, 400, JSON.stringify(body))
    assert.equal((await change(id, { other: true })).status, 204)
    assert.equal((await read(id)).state, 'new')
    assert.equal((await change('0', { state: 'read' })).status, 404)
  })

  test('statistics of the sequence count what came back', async () => {
    const written = await outreach.writeTo(mailbox)
    await outreach.makeReply(written, { classification: 'interested' })
    await outreach.makeReply(written, { kind: 'automatic', classification: 'absence' })
    await outreach.makeReply(written, { kind: 'automatic' })
    const { body } = await app.call('GET', `/v3/outreach/campaigns/${written.sequenceId}/stats`)
    assert.deepEqual(body.replies, {
      total: 2,
      interested: 1,
      refusal: 0,
      absence: 1,
      unsubscribe: 0,
      unclassified: 0,
    })
  })
})

test('what a person answered is told to them, and goes when they go', async () => {
  const [written, other] = [await outreach.writeTo(mailbox), await outreach.writeTo(mailbox)]
  const ids = [
    await outreach.makeReply(written),
    await outreach.makeReply(written, { sender: 'aide@z.example' }),
  ]
  const kept = await outreach.makeReply(other)
  const { body } = await app.call('GET', `/api/v1/contacts/export?email=${written.email}`)
  assert.equal(body.outreach_replies.length, 2)
  const erased = await app.call('POST', '/api/v1/contacts/erase', {
    body: { email: written.email, confirm: true },
  })
  assert.equal(erased.body.erased.outreach_replies, 2)
  for (const id of ids) assert.equal((await app.call('GET', `${path}/${id}`)).status, 404)
  assert.equal((await read(kept)).from, other.email)
})

const Message = row<{ recipient: string; subject: string; text: string; refs: string[]; state: string }>({
  recipient: text,
  subject: text,
  text,
  refs: texts,
  state: text,
})

describe('an answer', () => {
  test('waits in the thread, for the mailbox that was written to', async () => {
    const written = await outreach.writeTo(mailbox)
    const id = await outreach.makeReply(written, {
      messageId: '<r1@answers.example>',
      sender: 'aide@y.example',
    })
    const reply = await app.call('POST', `${path}/${id}/reply`, { body: { text: 'Gladly.', html: null } })
    assert.equal(reply.status, 202)
    const found = await db.one(
      Message,
      sql`select recipient, subject, text, refs, state from outreach_messages
           where account_id = ${app.accountId} and message_id = ${reply.body.messageId} and mailbox_id = ${mailbox.id}`,
    )
    assert.deepEqual(found, {
      recipient: 'aide@y.example',
      subject: 'Re: A question',
      text: 'Gladly.',
      refs: [written.messageId, '<r1@answers.example>'],
      state: 'queued',
    })
  })

  test('is written once for one Idempotency-Key', async () => {
    const id = await outreach.makeReply(await outreach.writeTo(mailbox))
    const answer = (words: string) =>
      app.call('POST', `${path}/${id}/reply`, {
        body: { text: words },
        headers: { 'idempotency-key': 'answer-1' },
      })
    const replies = await Promise.all(Array.from({ length: 5 }, () => answer('Once.')))
    for (const { status } of replies) assert.ok([202, 409].includes(status))
    const again = await answer('Once.')
    assert.deepEqual([again.status, again.headers.get('idempotency-replayed')], [202, 'true'])
    assert.deepEqual((await answer('Twice?')).body.code, 'idempotency_key_reused')
    const ids = replies.flatMap(({ status, body }) => (status === 202 ? [body.messageId] : []))
    assert.deepEqual([...new Set([...ids, again.body.messageId])].length, 1)
    const found = await db.many(
      Message,
      sql`select recipient, subject, text, refs, state from outreach_messages
           where account_id = ${app.accountId} and text = 'Once.'`,
    )
    assert.equal(found.length, 1)
  })

  test('needs something to say, a reply and a mailbox', async () => {
    const own = await outreach.makeMailbox()
    const id = await outreach.makeReply(await outreach.writeTo(own))
    const answer = (body: object) => app.call('POST', `${path}/${id}/reply`, { body })
    assert.equal((await answer({ text: ' ' })).status, 400)
    const hiding = await answer({ html: '<p>Yes</p>\n<style>' })
    assert.equal(hiding.status, 400)
    assert.match(hiding.body.message, /^html: <style> is never closed .* \(line 2, column 1\)$/)
    assert.equal((await app.call('POST', `${path}/0/reply`, { body: { text: 'a' } })).status, 404)
    await db.run(sql`delete from outreach_mailboxes where account_id = ${app.accountId} and id = ${own.id}`)
    assert.equal((await answer({ text: 'a' })).status, 400)
  })
})
