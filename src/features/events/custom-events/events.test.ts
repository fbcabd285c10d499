import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { onEvent, openRunning, step } from '../fixtures/running.ts'

const { app, api, declare, pass, subjects } = await openRunning()

const post = (key: string, body: unknown) => api('POST', '/v3/events', key, body)
const ofAnna = { identifiers: { email_id: 'Anna@Example.com' } }
const list = async (key: string, query = '') => (await api('GET', `/v3/events${query}`, key)).body

describe('recording an event', () => {
  test('of somebody unknown makes a contact', async () => {
    const { key } = await app.makeAccount()
    const reply = await post(key, {
      event_name: 'video_played',
      event_date: '2026-11-14T09:30:00+01:00',
      ...ofAnna,
      event_properties: { title: 'Intro', seconds: 12, nested: { a: [1] } },
      contact_properties: { FIRSTNAME: 'Anna' },
      object: { type: 'video', identifiers: { ext_id: 'v1' } },
      left_over: true,
    })
    assert.deepEqual([reply.status, reply.text], [204, ''])
    const { body: contact } = await api('GET', '/v3/contacts/anna@example.com', key)
    assert.equal(contact.attributes.FIRSTNAME, 'Anna')
    const { count, events } = await list(key)
    assert.equal(count, 1)
    assert.deepEqual(events, [
      {
        contact_id: contact.id,
        event_name: 'video_played',
        event_date: '2026-11-14T08:30:00.000Z',
        event_properties: { title: 'Intro', seconds: 12, nested: { a: [1] } },
        contact_properties: { FIRSTNAME: 'Anna' },
        object_type: 'video',
      },
    ])
  })

  test('changes what it says about a known contact, and the history says by what', async () => {
    const { key } = await app.makeAccount()
    await api('POST', '/v3/contacts', key, { email: 'anna@example.com', attributes: { FIRSTNAME: 'Ann' } })
    await post(key, {
      event_name: 'renamed',
      ...ofAnna,
      contact_properties: { FIRSTNAME: 'Anna', EMAIL: 'x@y.zz', email: 'x@y.zz' },
    })
    const { body } = await api('GET', '/v3/contacts/anna@example.com/history', key)
    const { attribute, oldValue, newValue, source } = body.history[0]
    assert.deepEqual([attribute, oldValue, newValue, source], ['FIRSTNAME', 'Ann', 'Anna', 'event'])
    const wrong = await post(key, {
      event_name: 'renamed',
      ...ofAnna,
      contact_properties: { FIRSTNAME: { a: 1 } },
    })
    assert.equal(wrong.status, 400, wrong.text)
    assert.equal((await list(key)).count, 1)
  })

  test('finds the person by any identifier, the number before all', async () => {
    const { key } = await app.makeAccount()
    const made = await api('POST', '/v3/contacts', key, { ext_id: 'c7', attributes: { SMS: '+33612345678' } })
    const { id } = made.body
    const each = [
      { contact_id: id, email_id: 'other@example.com' },
      { ext_id: 'c7' },
      { phone_id: '0033612345678' },
      { sms: '33612345678' },
      { contact_id: String(id), email_id: null },
    ]
    for (const identifiers of each) {
      const reply = await post(key, { event_name: 'seen', identifiers })
      assert.equal(reply.status, 204, reply.text)
    }
    const { events } = await list(key)
    assert.deepEqual(new Set(events.map((one: { contact_id: number }) => one.contact_id)), new Set([id]))
    assert.equal(events.length, each.length)
    assert.equal((await post(key, { event_name: 'seen', identifiers: { ext_id: 'new' } })).status, 204)
    assert.equal((await api('GET', '/v3/contacts/new?identifierType=ext_id', key)).status, 200)
  })

  test('adds the names that its contact lacks, and takes nobody else’s', async () => {
    const { key } = await app.makeAccount()
    await declare(key, onEvent('signup', step(0, 'Welcome')))
    const named = async (path: string) => {
      const { email, ext_id, attributes } = (await api('GET', `/v3/contacts/${path}`, key)).body
      return [email, ext_id, attributes?.SMS]
    }
    const say = async (event_name: string, identifiers: object) =>
      assert.equal((await post(key, { event_name, identifiers })).status, 204)
    // A visitor gives an address, and a phone later.
    await say('visit', { ext_id: 'u7' })
    await say('signup', { ext_id: 'u7', email_id: 'Uma@example.com' })
    await pass(0)
    assert.deepEqual(await subjects(key, 'uma@example.com'), ['Welcome'])
    await say('visit', { email_id: 'uma@example.com', phone_id: '+33612345678' })
    assert.deepEqual(await named('uma@example.com'), ['uma@example.com', 'u7', '33612345678'])
    // A contact logs in, and is named by the number of the shop from then on.
    await api('POST', '/v3/contacts', key, { email: 'vic@example.com' })
    await say('login', { email_id: 'vic@example.com', ext_id: 'v8' })
    await say('visit', { ext_id: 'v8' })
    assert.deepEqual(await named('v8?identifierType=ext_id'), ['vic@example.com', 'v8', undefined])
    // What somebody has is neither changed nor taken.
    await say('visit', { ext_id: 'v8', email_id: 'other@example.com' })
    await say('visit', { email_id: 'vic@example.com', ext_id: 'u7', phone_id: '+33612345678' })
    assert.deepEqual(await named('vic@example.com'), ['vic@example.com', 'v8', undefined])
    assert.equal((await api('GET', '/v3/contacts?limit=10', key)).body.count, 2)
    // Nor does an address that was erased come back.
    await api('POST', '/api/v1/contacts/erase', key, { email: 'gone@example.com', confirm: true })
    await say('visit', { ext_id: 'g9' })
    await say('visit', { ext_id: 'g9', email_id: 'gone@example.com' })
    assert.deepEqual(await named('g9?identifierType=ext_id'), [undefined, 'g9', undefined])
  })

  test('is refused with a reason when it is not one', async () => {
    const { key } = await app.makeAccount()
    const faults: [object, RegExp][] = [
      [{}, /event_name is missing/],
      [{ event_name: '', ...ofAnna }, /event_name is missing/],
      [{ event_name: 'two words', ...ofAnna }, /event_name/],
      [{ event_name: 'x'.repeat(256), ...ofAnna }, /event_name/],
      [{ event_name: 'a' }, /identifiers is missing/],
      [{ event_name: 'a', identifiers: {} }, /identifiers is missing/],
      [{ event_name: 'a', identifiers: { email_id: 'nobody' } }, /email_id is not valid/],
      [{ event_name: 'a', identifiers: { phone_id: 'abc' } }, /phone_id is not valid/],
      [{ event_name: 'a', identifiers: { contact_id: 999_999_999 } }, /Contact does not exist/],
      [{ event_name: 'a', identifiers: { contact_id: 2 ** 60 } }, /contact_id/],
      [{ event_name: 'a', identifiers: 'anna' }, /identifiers/],
      [{ event_name: 'a', ...ofAnna, event_date: 'yesterday' }, /event_date/],
      [{ event_name: 'a', ...ofAnna, event_date: '0000-01-01T00:00:00Z' }, /event_date/],
      [{ event_name: 'a', ...ofAnna, event_properties: { a: 'x'.repeat(51_200) } }, /50 KB/],
      [{ event_name: 'a', ...ofAnna, event_properties: 'text' }, /event_properties/],
    ]
    for (const [body, says] of faults) {
      const reply = await post(key, body)
      assert.equal(reply.status, 400, JSON.stringify(body).slice(0, 200))
      assert.match(reply.body.message, says)
    }
    assert.equal((await list(key)).count, 0)
    assert.equal((await api('GET', '/v3/contacts', key)).body.count, 0)
  })

  test('of an erased person is refused, of a suppressed one recorded', async () => {
    const { key } = await app.makeAccount()
    await api('POST', '/api/v1/contacts/erase', key, { email: 'anna@example.com', confirm: true })
    const reply = await post(key, { event_name: 'a', ...ofAnna })
    assert.deepEqual([reply.status, reply.body.code], [422, 'recipient_suppressed'])
    assert.equal((await api('GET', '/v3/contacts', key)).body.count, 0)
    await api('POST', '/api/v1/suppressions', key, { email: 'bob@example.com' })
    assert.equal(
      (await post(key, { event_name: 'a', identifiers: { email_id: 'bob@example.com' } })).status,
      204,
    )
  })

  test('of somebody unknown by many at once makes one contact', async () => {
    const { key } = await app.makeAccount()
    const replies = await Promise.all(
      Array.from({ length: 8 }, () =>
        post(key, { event_name: 'rush', ...ofAnna, contact_properties: { LASTNAME: 'B' } }),
      ),
    )
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([204]))
    assert.equal((await api('GET', '/v3/contacts', key)).body.count, 1)
    assert.equal((await list(key)).count, 8)
  })
})

describe('a batch', () => {
  const batch = (key: string, body: unknown) => api('POST', '/v3/events/batch', key, body)
  const good = { event_name: 'a', ...ofAnna }

  test('comes as a list or in an object', async () => {
    const { key } = await app.makeAccount()
    for (const body of [[good, good], { events: [good, good], more: 1 }]) {
      const reply = await batch(key, body)
      assert.deepEqual([reply.status, reply.body.count], [202, 2], reply.text)
    }
    assert.equal((await list(key)).count, 4)
  })

  test('is recorded but for its faults, which are told by their place', async () => {
    const { key } = await app.makeAccount()
    const reply = await batch(key, { events: [good, { event_name: 'no one' }, good, { event_name: 'b' }] })
    assert.equal(reply.status, 202)
    const { total_events, successful_events, failed_events, errors } = reply.body
    assert.deepEqual([total_events, successful_events, failed_events], [4, 2, 2])
    assert.deepEqual(
      errors.map((one: { eventIndex: number[] }) => one.eventIndex),
      [[1], [3]],
    )
    assert.equal((await list(key)).count, 2)
  })

  test('of nothing good is refused', async () => {
    const { key } = await app.makeAccount()
    const reply = await batch(key, [{ event_name: 'a' }, {}])
    assert.deepEqual([reply.status, reply.body.metadata.errors.length], [400, 2])
    for (const body of [[], {}, { events: [] }, { events: 'x' }, [1], Array(1001).fill(good)])
      assert.equal((await batch(key, body)).status, 400)
    assert.equal((await list(key)).count, 0)
  })

  test('says of a contact what its last event says, whatever each names it by', async () => {
    const { key } = await app.makeAccount()
    const [email, ext_id, phone_id] = ['anna@example.com', 'a1', '+33612345678']
    const made = await api('POST', '/v3/contacts', key, { email, ext_id, attributes: { SMS: phone_id } })
    const names = [{ phone_id }, { contact_id: made.body.id }, { ext_id }, { email_id: email }]
    const of = (identifiers: object, n: number) => ({
      event_name: 'moved',
      identifiers,
      contact_properties: { FIRSTNAME: `as ${n}` },
    })
    for (const orders of [names, names.toReversed()]) {
      assert.equal((await batch(key, orders.map(of))).status, 202)
      const { body } = await api('GET', `/v3/contacts/${email}`, key)
      assert.equal(body.attributes.FIRSTNAME, 'as 3')
    }
  })

  test('does not wait for another that has the same people in another order', async () => {
    const { key } = await app.makeAccount()
    const emails = Array.from({ length: 40 }, (_, i) => `p${i}@example.com`)
    const of = (ordered: string[], FIRSTNAME: string) => ({
      events: ordered.map((email_id) => ({
        event_name: 'seen',
        identifiers: { email_id },
        contact_properties: { FIRSTNAME },
      })),
    })
    const orders = [emails, emails.toReversed(), emails, emails.toReversed()]
    // Nobody of them is known before the first round.
    const asked = Array.from({ length: 4 }, (_, round) => orders.map((one, i) => of(one, `${round} ${i}`)))
    for (const round of asked) {
      const replies = await Promise.all(round.map((body) => batch(key, body)))
      assert.deepEqual(
        replies.map(({ status }) => status),
        [202, 202, 202, 202],
      )
    }
    assert.equal((await list(key)).count, 16 * 40)
  })
})

describe('reading events', () => {
  test('by contact, name, object and date, in pages', async () => {
    const { key } = await app.makeAccount()
    const of = (name: string, email: string, more = {}) => ({
      event_name: name,
      identifiers: { email_id: email },
      ...more,
    })
    await api('POST', '/v3/events/batch', key, [
      of('a', 'x@example.com', { object: { type: 'car' } }),
      of('b', 'x@example.com', { event_date: '2026-01-10' }),
      of('b', 'y@example.com'),
      of('c', 'y@example.com', { object: { type: 'bus' } }),
    ])
    const names = async (query: string) =>
      (await list(key, query)).events.map((one: { event_name: string }) => one.event_name)
    assert.deepEqual(await names(''), ['c', 'b', 'a'])
    assert.deepEqual(await names('?sort=asc&event_name=a&event_name=c'), ['a', 'c'])
    assert.deepEqual(await names('?event_name[]=b&object_type='), ['b'])
    assert.deepEqual(await names('?object_type[0]=car&object_type[1]=bus'), ['c', 'a'])
    assert.deepEqual(await names('?startDate=2026-01-01&endDate=2026-01-31'), ['b'])
    const x = (await api('GET', '/v3/contacts/x@example.com', key)).body.id
    assert.deepEqual(await names(`?contact_id=${x}`), ['a'])
    assert.deepEqual(await names(`?contact_id=999999999,${x}&event_name=a,b`), ['a'])
    const first = await list(key, '?limit=2')
    assert.deepEqual([first.count, first.events.length], [3, 2])
    assert.deepEqual(await names(`?limit=2&cursor=${encodeURIComponent(first.next_cursor)}`), ['a'])
    assert.deepEqual(await names('?limit=1&offset=1'), ['b'])
    for (const query of [
      '?limit=10001',
      '?limit=0',
      '?startDate=2026-02-31&endDate=2026-03-05',
      '?startDate=2026-01-01',
      '?contact_id=x',
      '?cursor=zzz',
    ])
      assert.equal((await api('GET', `/v3/events${query}`, key)).status, 400, query)
  })

  test('gives every name once', async () => {
    const { key } = await app.makeAccount()
    const other = await app.makeAccount()
    for (const event_name of ['b', 'a', 'b', 'c']) await post(key, { event_name, ...ofAnna })
    const names = async (query = '') => (await api('GET', `/v3/events/names${query}`, key)).body
    assert.deepEqual(await names(), { count: 3, names: ['a', 'b', 'c'], next_cursor: null })
    const first = await names('?limit=2')
    assert.deepEqual(first.names, ['a', 'b'])
    assert.deepEqual((await names(`?limit=2&cursor=${encodeURIComponent(first.next_cursor)}`)).names, ['c'])
    assert.equal((await api('GET', '/v3/events/names', other.key)).body.count, 0)
    assert.equal((await list(other.key)).count, 0)
  })
})
