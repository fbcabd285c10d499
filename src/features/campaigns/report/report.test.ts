import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'
import { until } from '../../../../test/until.ts'
import { json, row } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import { env } from '../../contacts/unsubscribe/fixtures/people.ts'
import { addEvent, addMessage, base, call, campaign, create, db, put, shop } from '../fixtures/campaigns.ts'
import { writeReport } from './report.ts'
import { languages, words } from './words.ts'

const email = { to: ['boss@example.com'], body: 'Look' }

describe('sendReport', () => {
  test('sends the figures below what its author says, from the sender of the campaign', async () => {
    const app = await makeApp({ env, deliver: true })
    const post = (path: string, body: object) => app.call('POST', path, { body })
    const { body: list } = await post('/v3/contacts/lists', { name: 'News' })
    await post('/v3/contacts', { email: 'anna@example.com', listIds: [list.id] })
    const made = await post(base, {
      ...campaign,
      name: 'Spring & <b>more</b>',
      recipients: { listIds: [list.id] },
    })
    const path = `${base}/${made.body.id}`
    assert.equal((await post(`${path}/sendNow`, { confirm: true })).status, 204)
    const asked = {
      language: 'en',
      email: { to: ['Boss@example.com', 'boss@example.com'], body: 'Hi <i>you</i>,\nlook' },
    }
    const reply = await post(`${path}/sendReport`, asked)
    assert.equal(reply.status, 204, reply.text)
    const found = () => app.call('GET', '/api/v1/sandbox/messages?to=boss@example.com')
    const mail = await until(async () => (await found()).body.data[0], 'the report')
    assert.equal(mail.subject, 'Campaign report – Spring & <b>more</b>')
    assert.match(JSON.stringify(mail.from), /news@shop\.example/)
    assert.match(mail.html, /Hi &lt;i&gt;you&lt;\/i&gt;,<br>\s*look/)
    assert.match(mail.html, /Spring &amp; &lt;b&gt;more/)
    assert.match(mail.html, />Sent<\/th><td[^>]*><strong>0</)
    assert.match(mail.text, /^Hi <i>you<\/i>,\s+look\s.*Complaints: 0/s)
    assert.doesNotMatch(mail.html, /\/t\//, 'neither pixel nor tracked link')
    assert.equal((await found()).body.data.length, 1)
  })

  test('tells what was counted, in French when nothing else is asked for', async () => {
    const { accountId, key } = await shop(['anna'])
    const id = await create(key)
    await put(id, 'sent')
    const anna = await addMessage({ accountId, id, name: 'anna', status: 'delivered' })
    for (const type of ['sent', 'delivery']) await addEvent(accountId, anna, type)
    for (const classification of ['human', 'human', 'robot'])
      await addEvent(accountId, anna, 'open', { classification })
    const reply = await call(key, 'POST', `${base}/${id}/sendReport`, { email })
    assert.equal(reply.status, 204, reply.text)
    const [message] = (await call(key, 'GET', '/api/v1/messages?to=boss@example.com')).body.data
    assert.equal(message.subject, 'Rapport de campagne – Spring')
    assert.deepEqual([message.campaign_id, message.source], [null, 'campaign'])
    const { parts } = await db.one(
      row<{ parts: { text: string } }>({ parts: json() }),
      sql`select parts from message_bodies where account_id = ${accountId}`,
    )
    assert.match(parts.text, /Envoyés: 1\nDélivrés: 1\nOuvertures: 2\nOuvertures uniques: 1\nClics: 0\n/)
  })

  test('is refused before a send, to nobody, to too many and to those who may not be written to', async () => {
    const [{ key }, other] = [await shop(), await shop()]
    const id = await create(key)
    const ask = (body: object, of = key) => call(of, 'POST', `${base}/${id}/sendReport`, body)
    const early = await ask({ email })
    assert.deepEqual(
      [early.status, early.body.message],
      [400, 'The campaign is draft and cannot be reported on'],
    )
    await put(id, 'in_process')
    await call(key, 'POST', '/api/v1/suppressions', { email: 'gone@example.com' })
    const suppressed = await ask({ email: { ...email, to: ['gone@example.com', 'boss@example.com'] } })
    assert.equal(suppressed.status, 400)
    assert.match(suppressed.body.message, /gone@example\.com$/)
    const eleven = Array.from({ length: 11 }, (_, i) => `a${i}@example.com`)
    const bad = [
      {},
      { email: null },
      { email: { to: email.to } },
      { email: { ...email, body: '\0' } },
      { email: { ...email, to: [] } },
      { email: { ...email, to: null } },
      { email: { ...email, to: ['nobody'] } },
      { email: { ...email, to: eleven } },
      { email, language: 'nl' },
    ]
    for (const body of bad) assert.equal((await ask(body)).status, 400, JSON.stringify(body))
    assert.equal((await ask({ email }, other.key)).status, 404)
    assert.deepEqual((await call(key, 'GET', '/api/v1/messages')).body.data, [])
    assert.equal((await ask({ email: { ...email, to: eleven.slice(1) }, language: null })).status, 204)
  })
})

test('a report is in each of its languages', () => {
  const figures = { sent: 12_345, delivered: 12_000, viewed: 7, uniqueViews: 5, clickers: 3, uniqueClicks: 2 }
  const rest = { hardBounces: 1, softBounces: 4, complaints: 6, unsubscriptions: 8 }
  for (const language of languages) {
    const all = { ...figures, ...rest } as never
    const { text, html } = writeReport({ language, campaign: 'Spring', body: 'Look', figures: all })
    const rows = text.trim().split('\n').slice(4)
    assert.deepEqual(
      rows.map((row) => row.replace(/\D/g, '')),
      ['12345', '12000', '7', '5', '3', '2', '1', '4', '8', '6'],
    )
    assert.ok(
      Object.values(words[language].names).every((name) => name.length > 0 && html.includes(`>${name}<`)),
    )
  }
})
