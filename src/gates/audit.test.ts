import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../test/app.ts'
import { createActs, writeAct } from '../../test/make-operation.ts'

const app = await makeApp({ extraOperations: [writeAct()] })
await app.pools.db.run(createActs)

type Line = {
  operation: string
  params: object
  result: object
  request_id: string
  key: { name: string }
  ip: string
}

async function linesOf(key: string, query = ''): Promise<Line[]> {
  return (await app.call('GET', `/api/v1/audit-logs${query}`, { key })).body.data
}

test('a call leaves one line with key, parameters and result', async () => {
  const { key } = await app.makeAccount()
  const body = { note: 'hello', secret: 'never shown' }
  await app.call('POST', '/api/v1/test-acts', { key, body, headers: { 'x-request-id': 'my-own-id' } })
  const [line] = await linesOf(key)
  assert.equal(line?.operation, 'act.write')
  assert.deepEqual(line?.params, { note: 'hello' })
  assert.deepEqual(line?.result, { status: 202, code: null })
  assert.deepEqual([line?.request_id, line?.key.name, line?.ip], ['my-own-id', 'test key', '127.0.0.1'])
})

test('a call that got its first answer again is told apart from the one that acted', async () => {
  const { key } = await app.makeAccount()
  const headers = { 'idempotency-key': 'once' }
  const act = () => app.call('POST', '/api/v1/test-acts', { key, body: { note: 'once' }, headers })
  await act()
  assert.equal((await act()).headers.get('idempotency-replayed'), 'true')
  const results = (await linesOf(key)).map(({ result }) => result)
  assert.deepEqual(results, [
    { status: 202, code: 'idempotency_replayed' },
    { status: 202, code: null },
  ])
})

test('refused calls leave a line too: scope, rate, input, broken JSON', async () => {
  const { accountId, key } = await app.makeAccount()
  const reader = await app.makeKey({ scopes: ['billing.read'] }, accountId)
  await app.call('POST', '/api/v1/test-acts', { key: reader.key, body: { note: 'x' } })
  await app.call('POST', '/api/v1/test-acts', { key, body: { nope: 1 } })
  await app.call('POST', '/api/v1/test-acts', { key, raw: '{' })
  await app.call('POST', '/api/v1/test-acts', { key, raw: '{}', headers: { 'content-type': 'text/plain' } })
  const results = (await linesOf(key)).map(({ result }) => result)
  assert.deepEqual(results, [
    { status: 415, code: 'unsupported_media_type' },
    { status: 400, code: 'malformed_json' },
    { status: 422, code: 'invalid_parameter' },
    { status: 403, code: 'scope_missing' },
  ])
})

test('lines are filtered, paged newest first, and the pages do not shift when new lines arrive', async () => {
  const { key } = await app.makeAccount()
  for (let i = 0; i < 5; i++) await app.call('POST', '/api/v1/test-acts', { key, body: { note: String(i) } })
  const page = async (cursor?: string) =>
    (
      await app.call(
        'GET',
        `/api/v1/audit-logs?operation=act.write&limit=2${cursor ? `&cursor=${cursor}` : ''}`,
        { key },
      )
    ).body
  const first = await page()
  await app.call('POST', '/api/v1/test-acts', { key, body: { note: 'new' } })
  const second = await page(first.next_cursor)
  const third = await page(second.next_cursor)
  const notes = [first, second, third].flatMap(({ data }) =>
    data.map((line: { params: { note: string } }) => line.params.note),
  )
  assert.deepEqual(notes, ['4', '3', '2', '1', '0'])
  assert.equal(third.next_cursor, null)
})

test('an operation is asked for by either of its names; an unknown one is refused with the nearest', async () => {
  const { key } = await app.makeAccount()
  await app.call('POST', '/api/v1/transactional/send', { key, body: {} })
  await app.call('POST', '/v3/smtp/email', { key, body: {} })
  for (const name of ['email.send', 'v3.email.send'])
    assert.equal((await linesOf(key, `?operation=${name}`)).length, 2, name)
  for (const [name, says] of [
    ['nope.x', /^There is no operation nope\.x\.$/],
    ['email.sned', /Did you mean email\.send\?/],
  ] as const) {
    const { status, body } = await app.call('GET', `/api/v1/audit-logs?operation=${name}`, { key })
    assert.deepEqual([status, body.error.code, body.error.param], [422, 'invalid_parameter', 'operation'])
    assert.match(body.error.message, says)
  }
})

test('a cursor that was changed or is used with other filters is refused', async () => {
  const { key } = await app.makeAccount()
  for (let i = 0; i < 3; i++) await app.call('GET', '/api/v1/usage', { key })
  const { next_cursor } = (await app.call('GET', '/api/v1/audit-logs?limit=1', { key })).body
  const other = await app.makeAccount()
  const attempts = [
    ['operation=usage.get&limit=1', next_cursor, key],
    ['limit=1', `${next_cursor.slice(0, -2)}AA`, key],
    ['limit=1', `${next_cursor}!`, key],
    ['limit=1', 'AAAA', key],
    ['limit=1', next_cursor, other.key],
  ]
  for (const [query, cursor, as] of attempts) {
    const reply = await app.call('GET', `/api/v1/audit-logs?${query}&cursor=${encodeURIComponent(cursor)}`, {
      key: as,
    })
    assert.deepEqual(
      [reply.status, reply.body.error?.code, reply.body.error?.param],
      [422, 'invalid_parameter', 'cursor'],
    )
  }
})

test('since cuts off what is older', async () => {
  const { key } = await app.makeAccount()
  await app.call('GET', '/api/v1/usage', { key })
  const [line] = (await app.call('GET', '/api/v1/audit-logs', { key })).body.data
  const later = new Date(new Date(line.at).getTime() + 1).toISOString()
  await app.call('GET', '/api/v1/settings', { key })
  const found = await linesOf(key, `?since=${later}`)
  assert.ok(!found.some(({ operation }) => operation === 'usage.get'))
  assert.ok(found.some(({ operation }) => operation === 'settings.get'))
  assert.equal((await app.call('GET', '/api/v1/audit-logs?since=yesterday', { key })).status, 422)
})

test('another account sees none of it', async () => {
  const [mine, theirs] = [await app.makeAccount(), await app.makeAccount()]
  await app.call('GET', '/api/v1/usage', { key: mine.key })
  assert.deepEqual(await linesOf(theirs.key), [])
})

test('odd text in parameters is kept out of the way, not out of the log', async () => {
  const { key } = await app.makeAccount()
  const note = `\u0000\ud800${'é'.repeat(80)}`
  await app.call('POST', '/api/v1/test-acts', { key, raw: JSON.stringify({ note: 'x', [note]: 1 }) })
  const [line] = await linesOf(key)
  assert.equal(line?.operation, 'act.write')
})

test('of what an operation does not know only the names are kept, at any depth', async () => {
  const { key } = await app.makeAccount()
  const hidden = 'SECRET-OF-THE-CALLER'
  const unknown = [
    'htmlContent',
    'body',
    'content',
    'attachment',
    'password',
    'token',
    'textt',
    'Html',
    'api-key',
  ]
  const body = { to: 'a@example.com', ...Object.fromEntries(unknown.map((name) => [name, hidden])) }
  const calls: [string, string, object?][] = [
    ['GET', `/api/v1/messages?limit=7&api_key=${hidden}&api-key=${hidden}`],
    ['GET', `/v3/account?api-key=${hidden}`],
    ['GET', `/v3/contacts?limit=7&token=${hidden}`],
    ['POST', '/api/v1/transactional/send', body],
    [
      'POST',
      '/api/v1/transactional/send',
      { from: { email: 'a@example.com', html: hidden }, to: { text: hidden } },
    ],
    ['POST', `/v3/smtp/email?key=${hidden}`, { sender: { email: hidden, html: hidden }, html: hidden }],
    ['PUT', '/api/v1/settings', { default_sender: { email: 'a@example.com', html: { text: hidden } } }],
  ]
  for (const [method, path, given] of calls) await app.call(method, path, { key, body: given })
  const lines = (await linesOf(key)).filter(({ operation }) => operation !== 'audit.list').reverse()
  assert.equal(lines.length, calls.length)
  const kept = lines.map(({ params }) => params as Record<string, unknown>)
  assert.deepEqual(kept[0], { limit: 7, api_key: '[not kept]', 'api-key': '[not kept]' })
  assert.deepEqual(kept[2], { limit: 7 })
  for (const name of unknown) assert.equal(kept[3]?.[name], '[not kept]', name)
  assert.equal(kept[3]?.to, 'a@example.com')
  assert.deepEqual(kept[4], {
    from: { email: 'a@example.com', html: '[not kept]' },
    to: { text: '[not kept]' },
  })
  assert.deepEqual(kept[6], { default_sender: { email: 'a@example.com', html: '[not kept]' } })
  // The sender's address is a field that is known.
  const rest = [...kept.slice(0, 5), { ...kept[5], sender: { ...(kept[5]?.sender as object), email: '' } }]
  assert.doesNotMatch(JSON.stringify(rest), new RegExp(hidden))
})

test('a key in a field that is known is cut to its beginning', async () => {
  const { key } = await app.makeAccount()
  const others = `xkeysib-${'a1'.repeat(32)}-AbCdEf0123456789`
  await app.call('POST', '/api/v1/test-acts', {
    key,
    body: { note: `it is ${key}, not ${others.slice(0, 40)}` },
  })
  await app.call('GET', `/v3/contacts/${key}`, { key })
  const [read, written] = await linesOf(key)
  assert.deepEqual(written?.params, { note: `it is ${key.slice(0, 13)}…, not xkeysib-a1a1…` })
  assert.deepEqual(Object.values(read?.params ?? {}), [`${key.slice(0, 13)}…`])
})
