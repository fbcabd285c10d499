import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { type App, makeApp } from '../../../test/app.ts'
import { createActs, writeAct } from '../../../test/make-operation.ts'
import { upsertLimit } from '../../features/accounts/account/queries.ts'
import { type Scope, scopeNames } from '../../kernel/scope.ts'

const app: App = await makeApp({
  extraOperations: [writeAct()],
  env: { POSTHORN_RATE_LIMIT_FACTOR: '10' },
})
await app.pools.db.run(createActs)

const own = app.operations.filter(({ face }) => face === 'own')
const toolOf = (name: string) => name.replaceAll('.', '_')

const clients: Client[] = []
after(() => Promise.all(clients.map((client) => client.close())))

async function connect(key: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1' })
  const requestInit = { headers: { 'api-key': key } }
  await client.connect(new StreamableHTTPClientTransport(new URL(`${app.url}/mcp`), { requestInit }))
  clients.push(client)
  return client
}

const agent = await connect(app.key)

type ToldFault = { code: string; param?: string; message: string }
type Told = ToldFault & {
  status: number
  hint?: string
  request_id: string
  retryable: boolean
}

async function use(client: Client, name: string, args: Record<string, unknown> = {}) {
  const { isError, structuredContent, content } = await client.callTool({ name, arguments: args })
  const [first] = content as { type: string; text: string }[]
  return { isError: isError === true, structured: structuredContent, text: first?.text ?? '' }
}

/** The error object of a call that must fail; the text says the same as the structure. */
async function refusalOf(client: Client, name: string, args: Record<string, unknown> = {}) {
  const { isError, structured, text } = await use(client, name, args)
  assert.equal(isError, true, text)
  assert.deepEqual(JSON.parse(text), structured)
  const { error } = structured as { error: Told & { details?: ToldFault[]; retry_after_s: number | null } }
  assert.match(error.request_id, /^req_[0-9a-f]{32}$/)
  return error
}

async function linesOf(key: string) {
  const { body } = await app.call('GET', '/api/v1/audit-logs', { key })
  type Line = { operation: string; params: object; result: object; request_id: string; ip: string }
  return (body.data as Line[]).filter(({ operation }) => operation !== 'audit.list')
}

test('the instructions say where lists live and how to read one schema', () => {
  const told = agent.getInstructions() ?? ''
  for (const word of [
    'GET /v3/contacts/lists',
    'campaign_send',
    'http://test/openapi.json?operation=campaign.send',
  ])
    assert.ok(told.includes(word), word)
})

describe('the list of tools', () => {
  test('has one tool per operation of /api/v1, for a key without restriction', async () => {
    const { tools } = await agent.listTools()
    assert.deepEqual(tools.map(({ name }) => name).sort(), own.map(({ name }) => toolOf(name)).sort())
    for (const { name, description, inputSchema } of tools) {
      assert.match(name, /^[a-z0-9_]{1,64}$/)
      assert.ok(description)
      assert.equal(inputSchema.type, 'object')
    }
  })

  test('has only what the scopes of the key allow', async () => {
    const cases: Scope[][] = [[], ['billing.read'], ['analytics.read', 'settings.write'], [...scopeNames]]
    for (const scopes of cases) {
      const { tools } = await (await connect((await app.makeKey({ scopes })).key)).listTools()
      const allowed = own.filter(({ scope }) => scope === null || scopes.includes(scope))
      assert.deepEqual(tools.map(({ name }) => name).sort(), allowed.map(({ name }) => toolOf(name)).sort())
    }
  })

  test('marks what only reads, and what cannot be undone', async () => {
    const { tools } = await agent.listTools()
    for (const op of own) {
      const marks = tools.find(({ name }) => name === toolOf(op.name))?.annotations
      assert.equal(marks?.readOnlyHint, ['read', 'dry'].includes(op.effect), op.name)
      assert.equal(marks?.destructiveHint, op.effect === 'irreversible' || op.method === 'DELETE', op.name)
      assert.equal(marks?.title, op.summary)
    }
  })

  test('says of nothing that acts anew that it can be repeated', async () => {
    const { tools } = await agent.listTools()
    const repeatable = (name: string) =>
      tools.find((tool) => tool.name === name)?.annotations?.idempotentHint ?? null
    for (const name of [
      'email_send',
      'campaign_send',
      'automation_create',
      'act_write',
      'campaign_conversion',
    ])
      assert.equal(repeatable(name), false, name)
    for (const name of [
      'settings_update',
      'automation_update',
      'suppression_delete',
      'usage_get',
      'message_validate',
    ])
      assert.equal(repeatable(name), true, name)
  })

  test('describes every argument and which are required', async () => {
    const { tools } = await agent.listTools()
    const act = tools.find(({ name }) => name === 'act_write')?.inputSchema
    assert.deepEqual(Object.keys(act?.properties ?? {}).sort(), ['idempotency_key', 'note', 'secret'])
    assert.deepEqual([act?.required, act?.additionalProperties], [['note'], false])
    const audit = tools.find(({ name }) => name === 'audit_list')?.inputSchema
    assert.deepEqual(Object.keys(audit?.properties ?? {}).sort(), ['cursor', 'limit', 'operation', 'since'])
  })
})

describe('a call', () => {
  test('gives the same as the request over HTTP, as structure and as text', async () => {
    for (const [tool, path] of [
      ['usage_get', '/api/v1/usage'],
      ['settings_get', '/api/v1/settings'],
      ['capabilities_get', '/api/v1/capabilities'],
    ] as const) {
      const { isError, structured, text } = await use(agent, tool)
      const reply = await app.call('GET', path)
      assert.equal(isError, false)
      assert.deepEqual(structured, reply.body)
      assert.equal(text, reply.text)
    }
  })

  test('passes arguments where they belong: body and query', async () => {
    const { key } = await app.makeAccount()
    const client = await connect(key)
    const changed = await use(client, 'settings_update', { timezone: 'Asia/Tokyo', click_tracking: false })
    assert.deepEqual(changed.structured, (await app.call('GET', '/api/v1/settings', { key })).body)
    const list = await use(client, 'audit_list', { limit: 1, operation: 'settings.update' })
    const { data } = list.structured as { data: { operation: string; params: object }[] }
    assert.deepEqual(
      data.map(({ operation, params }) => [operation, params]),
      [['settings.update', { timezone: 'Asia/Tokyo', click_tracking: false }]],
    )
  })

  test('leaves a line in the action log, refused ones too, and keeps secrets out', async () => {
    const { key } = await app.makeAccount()
    const client = await connect(key)
    await use(client, 'act_write', { note: 'by an agent', secret: 'hidden' })
    const { request_id } = await refusalOf(client, 'act_write', {})
    const [refused, done] = await linesOf(key)
    assert.deepEqual([done?.operation, done?.params], ['act.write', { note: 'by an agent' }])
    assert.deepEqual([done?.result, done?.ip], [{ status: 202, code: null }, '127.0.0.1'])
    assert.deepEqual(refused?.result, { status: 422, code: 'missing_parameter' })
    assert.equal(refused?.request_id, request_id)
    await refusalOf(client, 'settings_get', { api_key: key })
    assert.deepEqual((await linesOf(key))[0]?.params, { api_key: '[not kept]' })
  })

  test('with an idempotency_key acts once and answers the same again', async () => {
    const args = { note: 'once by an agent', idempotency_key: 'agent-1' }
    const [first, second] = [await use(agent, 'act_write', args), await use(agent, 'act_write', args)]
    assert.equal(first.isError, false)
    assert.deepEqual(second, first)
    const other = await refusalOf(agent, 'act_write', { ...args, note: 'another note' })
    assert.deepEqual([other.code, other.param], ['idempotency_key_reused', 'idempotency_key'])
    const headers = { 'idempotency-key': 'agent-1' }
    const reply = await app.call('POST', '/api/v1/test-acts', { body: { note: args.note }, headers })
    assert.deepEqual([reply.headers.get('idempotency-replayed'), reply.text], ['true', first.text])
    const { _meta } = await agent.callTool({ name: 'act_write', arguments: args })
    assert.equal(_meta?.idempotency_replayed, true)
  })
})

describe('a refusal comes back as an error with the structure of /api/v1', () => {
  test('for arguments that are not valid: every fault at once', async () => {
    const error = await refusalOf(agent, 'settings_update', {
      timezone: 'Mars',
      open_tracking: 1,
      timzone: 'x',
    })
    assert.deepEqual([error.code, error.status, error.retryable], ['invalid_parameter', 422, false])
    assert.deepEqual([...new Set(error.details?.map(({ param }) => param))].sort(), [
      'open_tracking',
      'timezone',
      'timzone',
    ])
    assert.match(JSON.stringify(error.details), /Did you mean timezone\?/)
  })

  test('for an argument that an operation without arguments does not know', async () => {
    const error = await refusalOf(agent, 'usage_get', { verbose: true })
    assert.deepEqual([error.code, error.details?.[0]?.param], ['unknown_parameter', 'verbose'])
    const { details } = await refusalOf(agent, 'campaign_stats', { campaign_id: 4 })
    assert.match(JSON.stringify(details), /campaign_id is unknown\. Did you mean id\?/)
  })

  test('for an idempotency_key that is empty, too long or not text', async () => {
    for (const idempotency_key of ['', 'x'.repeat(256), {}, ['a'], null]) {
      const error = await refusalOf(agent, 'act_write', { note: 'bad key', idempotency_key })
      assert.deepEqual(
        [error.code, error.status],
        ['invalid_parameter', 422],
        JSON.stringify(idempotency_key),
      )
    }
  })

  test('for a missing scope, with how to get it', async () => {
    const { key } = await app.makeKey({ scopes: ['billing.read'] })
    const error = await refusalOf(await connect(key), 'settings_update', { timezone: 'Asia/Tokyo' })
    assert.deepEqual([error.code, error.status], ['scope_missing', 403])
    assert.match(error.hint ?? '', /settings\.write/)
  })

  test('for a tool that does not exist, also one of the compatible namespace', async () => {
    for (const name of ['nothing_at_all', 'account_get', 'v3_account_get', 'usage.get', '__proto__']) {
      const error = await refusalOf(agent, name)
      assert.deepEqual([error.code, error.status], ['not_found', 404], name)
      assert.match(error.hint ?? '', /tools\/list/)
    }
    assert.match((await refusalOf(agent, 'usage.get')).message, /Did you mean usage_get\?$/)
  })

  test('for the rate limit, which agents and HTTP share', async () => {
    const { accountId, key } = await app.makeAccount()
    await upsertLimit(app.pools.db, accountId, 'usage.get', 2)
    const client = await connect(key)
    const statuses = await Promise.all(
      Array.from({ length: 20 }, () => app.call('GET', '/api/v1/usage', { key })),
    )
    assert.ok(statuses.every(({ status }) => status === 200))
    const error = await refusalOf(client, 'usage_get')
    assert.deepEqual([error.code, error.status, error.retryable], ['rate_limited', 429, true])
    assert.ok((error.retry_after_s ?? 0) >= 1)
    assert.match(error.hint ?? '', /retry_after_s/)
  })
})

describe('without a valid key', () => {
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }

  test('the answer is 401 in JSON, whatever is asked', async () => {
    for (const key of [null, 'phk_live_00000000000000000000000000000000']) {
      const reply = await app.call('POST', '/mcp', { key, body: message })
      assert.deepEqual([reply.status, reply.body.error.code], [401, 'unauthorized'])
      assert.match(reply.headers.get('content-type') ?? '', /^application\/json/)
      assert.equal(reply.body.error.request_id, reply.headers.get('x-request-id'))
    }
    assert.equal((await app.call('GET', '/mcp', { key: null })).status, 401)
    assert.equal((await app.call('DELETE', '/mcp', { key: null })).status, 401)
  })

  test('a client cannot connect', async () => {
    await assert.rejects(connect('phk_live_00000000000000000000000000000000'))
  })
})

test('every method but POST is refused as such', async () => {
  for (const method of ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
    const { status, body } = await app.call(method, '/mcp')
    assert.deepEqual([status, typeof body.error.message], [405, 'string'], method)
  }
})

test('initialize without what it needs is told what that is', async () => {
  const headers = { accept: 'application/json, text/event-stream' }
  for (const params of [{}, undefined, { protocolVersion: '2025-06-18', capabilities: {} }]) {
    const message = { jsonrpc: '2.0', id: 7, method: 'initialize', params }
    const { status, body } = await app.call('POST', '/mcp', { body: message, headers })
    assert.deepEqual([status, body.id, body.error.code], [400, 7, -32602])
    assert.match(body.error.message, /^initialize takes params: protocolVersion .*clientInfo/)
  }
})

test('what is not a message of the protocol is refused as such, in JSON', async () => {
  for (const raw of ['{', '[]', '{"a":1}', '"x"']) {
    const headers = { accept: 'application/json, text/event-stream' }
    const reply = await app.call('POST', '/mcp', { raw, headers })
    assert.ok(reply.status >= 400 && reply.status < 500, `${raw} ${reply.status}`)
    assert.match(reply.headers.get('content-type') ?? '', /json/)
    assert.ok(reply.headers.get('x-request-id'))
  }
})
