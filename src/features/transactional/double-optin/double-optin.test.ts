import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'
import { until } from '../../../../test/until.ts'
import { row, text } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import { unsubscribeKeysOf, writeUnsubscribeToken } from '../../contacts/unsubscribe/tokens.ts'

const secret = Buffer.alloc(32, 1)
let offsetMs = 0
const app = await makeApp({
  deliver: true,
  now: () => new Date(Date.now() + offsetMs),
  env: { POSTHORN_RATE_LIMIT_FACTOR: '100', POSTHORN_SECRET_KEY: secret.toString('hex') },
})

type Body = Record<string, unknown>
type Call = (method: string, path: string, body?: unknown) => ReturnType<typeof app.call>

async function setUp(more: Body = {}) {
  const { key, accountId } = await app.makeAccount()
  const call = (method: string, path: string, body?: unknown) => app.call(method, path, { key, body })
  const template = {
    templateName: 'Confirm',
    subject: 'Hello {{ contact.FIRSTNAME }}',
    sender: { email: 'shop@example.com', name: 'Shop' },
    htmlContent: '<p><a href="{{ doubleoptin }}">Yes</a> {{ params.DOIurl }}</p>',
    tag: 'optin',
    isActive: true,
    ...more,
  }
  const { body: made } = await call('POST', '/v3/smtp/templates', template)
  const list = async (name: string) => (await call('POST', '/v3/contacts/lists', { name })).body.id as number
  const [news, old] = [await list('News'), await list('Old')]
  const asked = {
    email: 'Ann@Example.com',
    attributes: { FIRSTNAME: 'Ann' },
    includeListIds: [news],
    excludeListIds: [old],
    templateId: made.id,
    redirectionUrl: 'https://shop.example/thanks?a=1',
  }
  const ask = (body: Body = {}, by = key) =>
    app.call('POST', '/v3/contacts/doubleOptinConfirmation', { key: by, body: { ...asked, ...body } })
  /** The path of the link in the newest message to the address. */
  const link = async (count = 1, to = 'ann@example.com') => {
    const found = await until(async () => {
      const { body } = await call('GET', `/api/v1/sandbox/messages?to=${to}`)
      return body.data.length >= count && body.data[0]
    }, 'the confirmation message')
    const [, href = ''] = /href="http:\/\/test(\/c\/[^"]+)"/.exec(found.html) ?? []
    assert.ok(found.html.includes(`http://test${href}</p>`), found.html)
    const isMarked = ({ name, value }: Body) => name === 'Auto-Submitted' && value === 'auto-generated'
    assert.ok(found.headers.some(isMarked))
    return { href, subject: found.subject }
  }
  const contact = (who = 'ann@example.com') => call('GET', `/v3/contacts/${who}`)
  return { key, accountId, call, ask, link, contact, news, old, template: made.id as number }
}

const get = (path: string) => app.call('GET', path, { key: null })
const confirm = (path: string) => app.call('POST', path, { key: null })
const leavingPath = (accountId: string, email: string) =>
  `/u/${writeUnsubscribeToken(unsubscribeKeysOf([secret]), { accountId, email })}`

describe('double opt-in', () => {
  test('asked for with a test key, automations that wait for the person write in test mode', async () => {
    const { accountId, ask, link, news, call } = await setUp()
    const steps = [{ delay_minutes: 5, subject: 'Welcome', html: 'x', from: 'shop@example.com' }]
    const automation = { name: 'Welcome', trigger_type: 'list_addition', list_id: news, steps }
    assert.equal((await call('POST', '/api/v1/automations', automation)).status, 201)
    const { key } = await app.makeKey({ mode: 'test' }, accountId)
    assert.equal((await ask({}, key)).status, 201)
    assert.equal((await confirm((await link()).href)).status, 303)
    assert.equal((await ask({ email: 'live@example.com' })).status, 201)
    assert.equal((await confirm((await link(1, 'live@example.com')).href)).status, 303)
    const runs = await app.pools.db.many(
      row<{ email: string; mode: string }>({ email: text, mode: text }),
      sql`select email, mode from automation_runs where account_id = ${accountId} order by email`,
    )
    assert.deepEqual(
      runs.map(({ email, mode }) => `${email} ${mode}`),
      ['ann@example.com test', 'live@example.com live'],
    )
  })

  test('makes the contact when the person confirms, and not before', async () => {
    const { ask, link, contact, news, call } = await setUp()
    const asked = await ask()
    assert.deepEqual([asked.status, asked.text], [201, ''])
    const { href, subject } = await link()
    assert.equal(subject, 'Hello Ann')
    const page = await get(href)
    assert.equal(page.status, 200)
    assert.match(page.text, /<button/)
    assert.ok(page.text.includes('a…n@example.com') && !page.text.includes('ann@example.com'))
    assert.equal((await contact()).status, 404)

    const done = await confirm(href)
    assert.deepEqual([done.status, done.headers.get('location')], [303, 'https://shop.example/thanks?a=1'])
    const { body } = await contact()
    assert.deepEqual(
      [body.attributes, body.listIds, body.status],
      [{ FIRSTNAME: 'Ann' }, [news], 'subscribed'],
    )
    assert.deepEqual([body.consentSource, body.consent_ip], ['double opt-in', '127.0.0.1'])
    assert.ok(Date.now() - Date.parse(body.consentDate) < 60_000)
    const { history } = (await call('GET', '/v3/contacts/ann@example.com/history')).body
    assert.ok(history.every(({ source }: Body) => source === 'double opt-in'))
    assert.equal((await ask()).status, 204)
  })

  test('leads to a page whose address has letters of any kind', async () => {
    const { ask, link } = await setUp()
    await ask({ redirectionUrl: 'https://bücher.example/merci à tous' })
    const { href } = await link()
    const wanted = 'https://xn--bcher-kva.example/merci%20%C3%A0%20tous'
    assert.equal((await confirm(href)).headers.get('location'), wanted)
    assert.ok((await get(href)).text.includes(`href="${wanted}"`))
  })

  test('may be confirmed again and again, and by many at once, with one effect', async () => {
    const { ask, link, call, contact, news } = await setUp()
    await ask()
    const { href } = await link()
    const replies = await Promise.all([1, 2, 3, 4].map(() => confirm(href)))
    assert.deepEqual(
      replies.map(({ status }) => status),
      [303, 303, 303, 303],
    )
    const { body: held } = await call('GET', '/api/v1/contacts/export?email=ann@example.com')
    assert.deepEqual([held.consents.length, held.double_optins.length], [1, 1])
    await call('PUT', '/v3/contacts/ann@example.com', {
      unlinkListIds: [news],
      attributes: { FIRSTNAME: 'A' },
    })
    assert.equal((await confirm(href)).status, 303)
    const { body } = await contact()
    assert.deepEqual([body.listIds, body.attributes], [[], { FIRSTNAME: 'A' }])
    const again = await get(href)
    assert.ok(again.text.includes('confirmed') && again.text.includes('https://shop.example/thanks?a=1'))
  })

  test('does not say that somebody is subscribed who left or was taken off since', async () => {
    for (const end of [
      (call: Call) => call('DELETE', '/v3/contacts/ann@example.com'),
      (call: Call) => call('PUT', '/v3/contacts/ann@example.com', { emailBlacklisted: true }),
    ]) {
      const { ask, link, call, contact } = await setUp()
      await ask()
      const { href } = await link()
      await confirm(href)
      assert.match((await get(href)).text, /<h1>Your subscription is confirmed<\/h1>/)
      assert.equal((await end(call)).status, 204)
      const { status, listIds } = (await contact()).body
      for (const reply of [await get(href), await confirm(href)]) {
        assert.equal(reply.status, 410)
        assert.match(reply.text, /<h1>This link was used before<\/h1>/)
        assert.doesNotMatch(reply.text, /gets emails/)
        assert.equal(reply.headers.get('location'), null)
      }
      const { body: after } = await contact()
      assert.deepEqual([after.status, after.listIds], [status, listIds])
    }
  })

  test('brings an existing contact onto the lists, and back from their own unsubscription', async () => {
    const { ask, link, call, contact, news, old, accountId } = await setUp()
    await call('POST', '/v3/contacts', { email: 'ann@example.com', listIds: [old] })
    await confirm(leavingPath(accountId, 'ann@example.com'))
    assert.equal((await contact()).body.status, 'unsubscribed')
    assert.equal((await ask()).status, 204)
    const { href } = await link()
    await confirm(href)
    const { body } = await contact()
    assert.deepEqual([body.status, body.listIds], ['subscribed', [news]])
    assert.deepEqual((await call('GET', '/api/v1/suppressions')).body.data, [])
  })

  test('does not bring somebody who had left everything back onto their other lists', async () => {
    const { ask, link, call, contact, news, accountId } = await setUp()
    const other = (await call('POST', '/v3/contacts/lists', { name: 'Other' })).body.id as number
    const email = 'ann@example.com'
    await call('POST', '/v3/contacts', { email, listIds: [other] })
    await call('POST', '/v3/contacts', { email: 'ben@example.com', listIds: [other] })
    await confirm(leavingPath(accountId, email))
    await ask()
    await confirm((await link()).href)
    const { body } = await contact()
    assert.deepEqual([body.status, body.listIds, body.listUnsubscribed], ['subscribed', [news], [other]])
    // Who had left nothing keeps what they have.
    await ask({ email: 'ben@example.com' })
    await confirm((await link(1, 'ben@example.com')).href)
    const { listIds } = (await contact('ben@example.com')).body
    assert.deepEqual(listIds.sort(), [news, other].sort())
  })

  test('writes to nobody whom something else than they themselves stopped', async () => {
    const { ask, call, accountId } = await setUp()
    const byHand = () => call('POST', '/api/v1/suppressions', { email: 'ann@example.com' })
    for (const stop of [
      byHand,
      async () => {
        await call('DELETE', '/api/v1/suppressions/ann@example.com')
        await confirm(leavingPath(accountId, 'ann@example.com'))
        await byHand()
      },
      () => call('POST', '/api/v1/contacts/erase', { email: 'ann@example.com', confirm: true }),
    ]) {
      await stop()
      assert.equal((await ask()).body.code, 'recipient_suppressed')
    }
  })

  test('refuses what cannot lead to a confirmation', async () => {
    const { ask, template, call, news } = await setUp()
    const refused = async (body: Body, code: string, message: RegExp) => {
      const reply = await ask(body)
      assert.equal(reply.status, 400, JSON.stringify(body))
      assert.deepEqual([reply.body.code, message.test(reply.body.message)], [code, true], reply.text)
    }
    await refused({ email: undefined }, 'missing_parameter', /email/)
    await refused({ email: 'nobody' }, 'invalid_parameter', /email/)
    await refused({ includeListIds: [] }, 'missing_parameter', /includeListIds/)
    await refused({ includeListIds: [news + 100_000] }, 'invalid_parameter', /does not exist/)
    await refused({ includeListIds: [Number.MAX_SAFE_INTEGER + 1] }, 'invalid_parameter', /includeListIds/)
    await refused({ redirectionUrl: undefined }, 'missing_parameter', /redirectionUrl/)
    await refused({ redirectionUrl: 'javascript:alert(1)' }, 'invalid_parameter', /http or https/)
    await refused({ templateId: null }, 'missing_parameter', /templateId/)
    await refused({ templateId: template + 100_000 }, 'invalid_parameter', /no template/)
    const put = (body: Body) => call('PUT', `/v3/smtp/templates/${template}`, body)
    assert.equal((await call('GET', `/v3/smtp/templates/${template}`)).body.doiTemplate, true)
    await put({ isActive: false })
    await refused({}, 'invalid_parameter', /not active/)
    await put({ isActive: true, htmlContent: '<p>no link here at all</p>' })
    await refused({}, 'invalid_parameter', /doubleoptin/)
    await put({ tag: 'welcome' })
    await refused({}, 'invalid_parameter', /tag optin/)
    assert.deepEqual((await call('GET', '/api/v1/messages')).body.data, [])
  })

  test('takes what can still be set when attributes and lists are gone meanwhile', async () => {
    const { ask, link, call, contact, news } = await setUp()
    await call('POST', '/v3/contacts/attributes/normal/AGE', { type: 'float' })
    await ask({ attributes: { FIRSTNAME: 'Ann', AGE: 3, SMS: '+33612345678' } })
    const { href } = await link()
    await call('DELETE', '/v3/contacts/attributes/normal/AGE')
    await call('DELETE', `/v3/contacts/lists/${news}`)
    await call('POST', '/v3/contacts', { email: 'x@example.com', attributes: { SMS: '+33612345678' } })
    assert.equal((await confirm(href)).status, 303)
    const { body } = await contact()
    assert.deepEqual([body.attributes, body.listIds], [{ FIRSTNAME: 'Ann' }, []])
  })

  test('is over after 30 days, and with the person’s erasure', async () => {
    const { ask, link, call } = await setUp()
    await ask()
    const { href } = await link()
    offsetMs = 31 * 86_400_000
    assert.deepEqual([(await get(href)).status, (await confirm(href)).status], [410, 410])
    offsetMs = 0
    const erased = await call('POST', '/api/v1/contacts/erase', { email: 'ann@example.com', confirm: true })
    assert.equal(erased.body.erased.double_optins, 1)
    assert.deepEqual([(await get(href)).status, (await confirm(href)).status], [410, 410])
    for (const path of ['/c/x', '/c/', `${href}x`, `/c/v1.${'A'.repeat(60)}`])
      assert.equal((await get(path)).status, 404, path)
  })
})

describe('an address', () => {
  test('is asked a few times an hour and a day; other addresses and accounts are not concerned', async () => {
    const { ask, call } = await setUp()
    const statuses = async (count: number) => {
      const replies = await Promise.all(Array.from({ length: count }, () => ask()))
      return replies.map(({ status }) => status).sort()
    }
    // At the same time as well.
    assert.deepEqual(await statuses(5), [201, 201, 201, 429, 429])
    const refused = await ask()
    assert.deepEqual([refused.status, refused.body.code], [429, 'too_many_requests'])
    assert.doesNotMatch(refused.body.message, /ann|contact/i)
    const wait = Number(refused.headers.get('retry-after'))
    assert.ok(wait > 3_500 && wait <= 3_600, String(wait))
    assert.equal((await ask({ email: 'ben@example.com' })).status, 201)
    assert.equal((await (await setUp()).ask()).status, 201)
    const hour = 3_600_000
    const before = offsetMs
    const later: number[] = []
    for (let i = 1; i <= 3; i++) {
      offsetMs = before + i * hour + 1_000 * i
      later.push((await statuses(3)).filter((status) => status === 201).length)
    }
    assert.deepEqual(later, [3, 3, 1])
    offsetMs = before + 25 * hour
    assert.deepEqual(await statuses(1), [201])
    offsetMs = before
    const { body } = await call('GET', '/api/v1/messages?to=ann@example.com')
    assert.equal(body.data.length, 11)
  })
})
