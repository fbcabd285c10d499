// What every declared operation must do, whatever it is about.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { upsertLimit } from '../../src/features/accounts/account/queries.ts'
import { areas, type Operation, operationId } from '../../src/kernel/operation.ts'
import { scopeNames } from '../../src/kernel/scope.ts'
import { makeApp, type Reply } from '../app.ts'
import { secretKey } from './contact-examples.ts'
import { exampleOf, workingExampleOf } from './examples.ts'
import { memoryStorage, servesImage } from './media-examples.ts'

const app = await makeApp({
  deliver: true,
  env: { POSTHORN_SECRET_KEY: secretKey.toString('hex'), POSTHORN_OUTREACH_ALLOW_PRIVATE: 'true' },
  fetchClient: servesImage,
  storage: memoryStorage(),
})
const keyed = app.operations.filter((op) => !op.public)

function send(op: Operation, key: string | null): Promise<Reply> {
  const { path, body } = exampleOf(op)
  return app.call(op.method, path, { key, body })
}

function codeOf(op: Operation, { body }: Reply): string {
  return op.face === 'v3' ? body.code : body.error.code
}

describe('without a key', () => {
  for (const op of keyed) {
    test(`${operationId(op)} answers 401`, async () => {
      for (const key of [null, 'phk_live_00000000000000000000000000000000']) {
        const reply = await send(op, key)
        assert.equal(reply.status, 401)
        assert.equal(codeOf(op, reply), 'unauthorized')
      }
    })
  }
})

describe('with a key of any other scope', () => {
  for (const op of keyed.filter(({ scope }) => scope !== null)) {
    test(`${operationId(op)} answers 403 and names ${op.scope}`, async () => {
      const others = scopeNames.filter((scope) => scope !== op.scope)
      for (const scopes of [others, ...others.map((scope) => [scope])]) {
        const reply = await send(op, (await app.makeKey({ scopes })).key)
        assert.equal(reply.status, 403)
        assert.equal(codeOf(op, reply), 'scope_missing')
        assert.match(reply.text, new RegExp(String(op.scope).replace('.', '\\.')))
      }
    })
  }
})

describe('with a key of just its scope', () => {
  for (const op of app.operations) {
    test(`${operationId(op)} answers as its schema says`, async () => {
      const { key } = await app.makeKey({ scopes: op.scope === null ? [] : [op.scope] })
      const { path, body } = await workingExampleOf(op, app, app.key)
      const reply = await app.call(op.method, path, { key, body })
      // The service under test holds each reply against its schema and fails with 500 where they differ.
      assert.ok(op.statuses.includes(reply.status), `${reply.status} ${reply.text}`)
      assert.ok(reply.headers.get('x-request-id'))
    })
  }
})

describe('one past the limit', () => {
  for (const op of keyed) {
    test(`${operationId(op)} answers 429`, async () => {
      const { accountId, key } = await app.makeAccount()
      await upsertLimit(app.pools.db, accountId, operationId(op), 3)
      const replies: Reply[] = []
      for (let i = 0; i < 4; i++) replies.push(await send(op, key))
      assert.deepEqual(
        replies.map(({ status }) => status === 429),
        [false, false, false, true],
      )
      assert.deepEqual(
        replies.map(({ headers }) => headers.get('ratelimit-remaining')),
        ['2', '1', '0', '0'],
      )
      const last = replies[3] as Reply
      assert.equal(codeOf(op, last), op.face === 'v3' ? 'too_many_requests' : 'rate_limited')
      assert.ok(Number(last.headers.get('retry-after')) >= 1)
      assert.equal(last.headers.get('x-sib-ratelimit-limit'), op.face === 'v3' ? '3' : null)
    })
  }
})

describe('invalid input', () => {
  const own = app.operations.filter(({ face }) => face === 'own')
  for (const op of own) {
    test(`${operationId(op)} refuses an unknown query parameter`, async () => {
      const { path, body } = exampleOf(op)
      const reply = await app.call(op.method, `${path}${path.includes('?') ? '&' : '?'}zzz=1`, { body })
      assert.equal(reply.status, 422)
      assert.equal(reply.body.error.code, 'unknown_parameter')
      assert.equal(reply.body.error.param, 'zzz')
    })
  }
  for (const op of app.operations.filter(({ needs }) => needs.length > 0)) {
    test(`${operationId(op)} refuses a body without ${op.needs.join(', ')}`, async () => {
      const { path, body } = await workingExampleOf(op, app, app.key)
      for (const field of op.needs) {
        const { [field]: _, ...others } = body as Record<string, unknown>
        const reply = await app.call(op.method, path, { body: others })
        assert.ok([400, 422].includes(reply.status), `${field}: ${reply.status} ${reply.text}`)
      }
    })
  }
  for (const op of own.filter(({ body }) => body)) {
    test(`${operationId(op)} refuses bodies of the wrong form`, async () => {
      for (const body of [[], 'text', 1, null, { zzz: 1 }]) {
        const reply = await app.call(op.method, exampleOf(op).path, { raw: JSON.stringify(body) })
        assert.equal(reply.status, 422, JSON.stringify(body))
      }
    })
  }
  for (const op of app.operations.filter(({ body }) => body)) {
    test(`${operationId(op)} refuses broken JSON`, async () => {
      const reply = await app.call(op.method, exampleOf(op).path, { raw: '{"a":' })
      assert.equal(reply.status, 400)
      assert.equal(codeOf(op, reply), op.face === 'v3' ? 'bad_request' : 'malformed_json')
    })
  }
})

describe('the declarations', () => {
  test('have unique ids, routes and tool names', () => {
    const ids = app.operations.map(operationId)
    const routes = app.operations.map(({ method, path }) => `${method} ${path.replaceAll(/\{\w+\}/g, '{}')}`)
    assert.equal(new Set(ids).size, ids.length)
    assert.equal(new Set(routes).size, routes.length)
  })

  test('name the parts of their paths', () => {
    for (const op of app.operations) {
      const inPath = [...op.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name).sort()
      assert.deepEqual(Object.keys(op.params?.properties ?? {}).sort(), inPath, op.path)
    }
  })

  test('belong to areas of the specification', () => {
    for (const { area, name } of app.operations) assert.ok(areas.includes(area), name)
  })

  test('keep secrets out of the action log by names that exist', () => {
    for (const op of app.operations) {
      const known = [op.params, op.query, op.body].flatMap((schema) =>
        Object.keys((schema as { properties?: object } | undefined)?.properties ?? {}),
      )
      for (const name of op.secret) assert.ok(known.includes(name), `${op.name}: ${name}`)
    }
  })

  test('keep contents and addresses that are fetched or called out of the action log', () => {
    const content =
      /^(subject[AB]?|html|text|(html|text)?Content|previewText|header|footer|params|attachments?)$/
    const address = /^(html|attachment|image|file|notify)?url$/i
    for (const op of app.operations) {
      const { properties = {} } = (op.body ?? {}) as { properties?: object }
      const told = Object.keys(properties).filter((name) => content.test(name) || address.test(name))
      for (const name of told) assert.ok(op.secret.includes(name), `${operationId(op)}: ${name}`)
    }
  })

  test('make a valid OpenAPI document', async () => {
    const { body } = await app.call('GET', '/openapi.json', { key: null })
    const result = await new Validator().validate(body)
    assert.ok(result.valid, JSON.stringify(result.errors))
    const described = Object.values(body.paths as Record<string, object>).flatMap((path) => Object.keys(path))
    assert.equal(described.length, app.operations.length)
  })

  test('are all in llms.txt, and counted with their limits in the capabilities', async () => {
    const { body } = await app.call('GET', '/api/v1/capabilities', { key: null })
    const llms = await app.call('GET', '/llms.txt', { key: null })
    for (const op of app.operations) {
      assert.ok(llms.text.includes(`\`${op.method} ${op.path}\``), op.path)
      const limits = body.limits.requests_per_minute
      assert.equal(limits.operations[operationId(op)] ?? limits.default, op.perMinute)
      assert.equal(body.limits.idempotency.operations.includes(operationId(op)), op.idempotent)
    }
    assert.equal(body.operations.own + body.operations.compatible, app.operations.length)
  })
})
