import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { row, text } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import { onEvent, openRunning, step } from '../fixtures/running.ts'

const { app, api, declare } = await openRunning()
const { db } = app.pools
const Mode = row<{ mode: string }>({ mode: text })

const post = (key: string, body: unknown) => api('POST', '/api/v1/automations', key, body)
const welcome = onEvent('signed_up', step(0, 'Welcome'), step(1440.5, 'Tips'))

describe('an automation', () => {
  test('is live or in test mode as its contents were given, whoever renames it, and stays live', async () => {
    const { accountId, key } = await app.makeAccount()
    const { key: testKey } = await app.makeKey({ mode: 'test' }, accountId)
    const modeAfter = async (path: string, by: string, change: object) => {
      assert.equal((await api('PUT', path, by, change)).status, 200)
      return db.one(Mode, sql`select mode from automations where account_id = ${accountId}`)
    }
    const path = `/api/v1/automations/${await declare(testKey, onEvent('a', step(0, 'One')))}`
    assert.deepEqual(await modeAfter(path, key, { name: 'Renamed' }), { mode: 'test' })
    assert.deepEqual(await modeAfter(path, key, { steps: [step(0, 'Two')] }), { mode: 'live' })
    assert.deepEqual(await modeAfter(path, testKey, { steps: [step(0, 'Three')] }), { mode: 'live' })
  })

  test('is declared, read, changed, listed and deleted', async () => {
    const { key } = await app.makeAccount()
    const made = await post(key, welcome)
    assert.equal(made.status, 201, made.text)
    const { id, created_at, updated_at, ...rest } = made.body
    assert.deepEqual(rest, { ...welcome, list_id: null, status: 'active' })
    assert.match(id, /^aut_/)
    const path = `/api/v1/automations/${id}`
    assert.deepEqual((await api('GET', path, key)).body, made.body)
    const changed = await api('PUT', path, key, { name: 'Hello', status: 'paused' })
    assert.deepEqual(
      [changed.body.name, changed.body.status, changed.body.steps],
      ['Hello', 'paused', welcome.steps],
    )
    const newest = await declare(key, onEvent('other', step(1, 'x')))
    const first = (await api('GET', '/api/v1/automations?limit=1', key)).body
    assert.deepEqual(first.data[0].id, newest)
    const next = await api('GET', `/api/v1/automations?limit=1&cursor=${first.next_cursor}`, key)
    assert.deepEqual([next.body.data[0].id, next.body.next_cursor], [id, null])
    assert.deepEqual((await api('DELETE', path, key)).body, { id, deleted: true })
    for (const method of ['GET', 'PUT', 'DELETE'])
      assert.equal((await api(method, path, key, method === 'PUT' ? {} : undefined)).status, 404)
    assert.equal((await api('GET', '/api/v1/automations', key)).body.data.length, 1)
  })

  test('of another account is not there', async () => {
    const [mine, theirs] = [await app.makeAccount(), await app.makeAccount()]
    const path = `/api/v1/automations/${await declare(mine.key, welcome)}`
    for (const method of ['GET', 'PUT', 'DELETE'])
      assert.equal((await api(method, path, theirs.key, method === 'PUT' ? {} : undefined)).status, 404)
    assert.equal((await api('GET', '/api/v1/automations', theirs.key)).body.data.length, 0)
    assert.equal((await api('GET', '/api/v1/automations/aut_1', mine.key)).status, 404)
  })

  test('is refused with where it is wrong', async () => {
    const { key } = await app.makeAccount()
    const faults: [object, string, string][] = [
      [{ ...welcome, event_name: undefined }, 'missing_parameter', 'event_name'],
      [{ ...welcome, trigger_type: 'list_addition' }, 'invalid_parameter', 'event_name'],
      [{ ...welcome, trigger_type: 'list_addition', event_name: undefined }, 'missing_parameter', 'list_id'],
      [
        { ...welcome, trigger_type: 'list_addition', event_name: undefined, list_id: 999_999 },
        'invalid_parameter',
        'list_id',
      ],
      [{ ...welcome, trigger_type: 'click' }, 'invalid_parameter', 'trigger_type'],
      [{ ...welcome, steps: [] }, 'invalid_parameter', 'steps'],
      [onEvent('a', step(-1, 'x')), 'invalid_parameter', 'steps[0].delay_minutes'],
      [onEvent('a', step(1, 'x', { html: undefined })), 'content_missing', 'steps[0].html'],
      [onEvent('a', step(1, ' ')), 'content_missing', 'steps[0].subject'],
      [onEvent('a', step(1, 'x', { html: '<p>Hi</p><!-- open' })), 'template_invalid', 'steps[0].html'],
      [onEvent('a', step(1, 'x', { template_id: 1 })), 'invalid_parameter', 'steps[0].template_id'],
      [onEvent('a', step(1, 'x', { from: undefined })), 'missing_parameter', 'steps[0].from'],
      [
        onEvent('a', step(1, 'x', { html: undefined, template_id: 999_999 })),
        'template_invalid',
        'steps[0].template_id',
      ],
    ]
    for (const [body, code, param] of faults) {
      const { status, body: reply, text } = await post(key, body)
      assert.deepEqual([status, reply.error?.code, reply.error?.param], [422, code, param], text)
    }
  })

  test('is one of fifty at most that start with the same trigger', async () => {
    const { key } = await app.makeAccount()
    const some = () =>
      Promise.all(Array.from({ length: 15 }, () => post(key, onEvent('often', step(1, 'x')))))
    const made = [...(await some()), ...(await some()), ...(await some()), ...(await some())]
    const kept = made.filter(({ status }) => status === 201)
    const refused = made.filter(({ status }) => status === 422).map(({ body }) => body.error)
    assert.deepEqual([kept.length, refused.length], [50, 10])
    const { code, param, hint } = refused[0]
    assert.deepEqual([code, param], ['invalid_parameter', 'event_name'])
    assert.match(hint, /Pause or delete/)
    assert.equal((await post(key, onEvent('rarely', step(1, 'x')))).status, 201)
    const paused = await post(key, { ...onEvent('often', step(1, 'x')), status: 'paused' })
    const path = `/api/v1/automations/${paused.body.id}`
    assert.equal((await api('PUT', path, key, { status: 'active' })).status, 422)
    const one = `/api/v1/automations/${kept[0]?.body.id}`
    assert.equal((await api('PUT', one, key, { name: 'Another', steps: [step(2, 'y')] })).status, 200)
    assert.equal((await api('DELETE', one, key)).status, 200)
    assert.equal((await api('PUT', path, key, { status: 'active' })).status, 200)
  })

  test('tells every broken template of all its steps', async () => {
    const { key } = await app.makeAccount()
    const { status, body } = await post(
      key,
      onEvent(
        'a',
        step(0, 'Hi {{ event.x | shout }}'),
        step(1, 'ok'),
        step(2, 'x', { html: '<p>\n{% if a %}</p>' }),
      ),
    )
    assert.deepEqual([status, body.error.code], [422, 'template_invalid'])
    assert.deepEqual(
      body.error.details.map((one: { param: string }) => one.param),
      ['steps[0].subject', 'steps[2].html'],
    )
    assert.match(body.error.details[1].message, /line 2/)
  })

  test('tells all that is wrong at once, of its fields, its trigger and each step', async () => {
    const { key } = await app.makeAccount()
    const steps = [step(0, '{{ x', { html: '{% if' }), step(1, ' ', { html: undefined, from: undefined })]
    const body = { ...onEvent('a', ...steps), list_id: 999_999 }
    const told = async (by: { status: number; body: { error: { details: Record<string, string>[] } } }) => {
      assert.equal(by.status, 422)
      return by.body.error.details.map(({ param }) => param)
    }
    const ofSteps = ['[0].subject', '[0].html', '[1].html', '[1].subject', '[1].from'].map(
      (at) => `steps${at}`,
    )
    // It does not belong to the trigger, and there is none of that number.
    assert.deepEqual(await told(await post(key, body)), ['list_id', 'list_id', ...ofSteps])
    const all = ['name', 'list_id', 'list_id', ...ofSteps]
    assert.deepEqual(await told(await post(key, { ...body, name: '' })), all)
    const path = `/api/v1/automations/${(await post(key, onEvent('a', step(1, 'x')))).body.id}`
    assert.deepEqual(await told(await api('PUT', path, key, { name: '', steps })), ['name', ...ofSteps])
    assert.deepEqual(await told(await api('PUT', path, key, { steps })), ofSteps)
  })

  test('takes its sender from the step, the template or the account, and none that its key may not use', async () => {
    const { accountId, key } = await app.makeAccount()
    const bare = onEvent('a', step(1, 'x', { from: undefined }))
    await api('PUT', '/api/v1/settings', key, { default_sender: { email: 'hello@shop.example' } })
    assert.equal((await post(key, bare)).status, 201)
    const { key: narrow } = await app.makeKey({ senderDomains: ['other.example'] }, accountId)
    const reply = await post(narrow, bare)
    assert.deepEqual([reply.status, reply.body.error.code], [403, 'sender_domain_not_allowed'])
  })

  test('that is being paused gets no trigger which is not its own', async () => {
    const { key } = await app.makeAccount()
    const { body: made } = await api('POST', '/api/v1/automations', key, welcome)
    const { id: listId } = (await api('POST', '/v3/contacts/lists', app.key, { name: 'Theirs' })).body
    for (const change of [{ list_id: listId }, { trigger_type: 'list_addition', list_id: listId }]) {
      const reply = await api('PUT', `/api/v1/automations/${made.id}`, key, { status: 'paused', ...change })
      assert.equal(reply.status, 422, reply.text)
    }
  })

  test('whose template is gone can be paused, not let go on', async () => {
    const { key } = await app.makeAccount()
    const template = await api('POST', '/v3/smtp/templates', key, {
      templateName: 'T',
      subject: 'From a template',
      sender: { email: 'shop@example.com' },
      htmlContent: '<p>Hello there</p>',
      isActive: true,
    })
    const of = { delay_minutes: 1, template_id: template.body.id }
    const path = `/api/v1/automations/${await declare(key, onEvent('a', of))}`
    await api('PUT', `/v3/smtp/templates/${template.body.id}`, key, { isActive: false })
    assert.equal((await api('PUT', path, key, { status: 'paused' })).status, 200)
    assert.equal((await api('PUT', path, key, { status: 'active' })).status, 422)
  })
})
