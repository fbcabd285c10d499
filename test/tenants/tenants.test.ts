// Whatever names something of another account: refused, nothing shown, nothing changed.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Operation, operationId } from '../../src/kernel/operation.ts'
import type { CallOptions, Reply } from '../app.ts'
import { type Example, workingExampleOf } from '../contract/examples.ts'
import { makeTarget, settled } from '../fuzz/barrage.ts'
import { checksumsOf } from '../fuzz/checksum.ts'
import { ruleFor } from './cases.ts'
import type { Household } from './furnish.ts'
import { placesOf, put } from './places.ts'

const target = await makeTarget()
const { app, mine, theirs } = target
theirs.ids.cursor = (
  await app.call('GET', '/api/v1/audit-logs?limit=1', { key: theirs.key })
).body.next_cursor
theirs.ids.filter = `equals(EMAIL,"${theirs.ids.email}")`
await settled(target)
await target.closeJobs()
const sumsOf = (home: Household) => checksumsOf(app.databaseUrl, home.accountId)

const idempotencyKey = 'header:idempotency-key'
const starts = new Map<Operation, Promise<Example>>()

function startOf(op: Operation): Promise<Example> {
  const start = starts.get(op) ?? workingExampleOf(op, app, mine.key)
  starts.set(op, start)
  return start
}

/** The working request of one account with the other's identifier at one place. */
async function crossed(op: Operation, place: string, id: string | number, alone?: true): Promise<Reply> {
  const start = await startOf(op)
  const [part, name = ''] = place.split(/:(.*)/)
  const call: CallOptions = { key: mine.key, body: start.body }
  let { path } = start
  if (part === 'path') path = inPath(op, path, name, encodeURIComponent(id))
  else if (part === 'query') path = inQuery(path, name.replace('[]', ''), encodeURIComponent(id))
  else call.body = put(alone ? put(start.body, name.replace(/\.[^.]*$/, ''), {}) : start.body, name, id)
  return app.call(op.method, path, call)
}

function inPath(op: Operation, path: string, name: string, id: string): string {
  const at = op.path.split('/').indexOf(`{${name}}`)
  return path
    .split('/')
    .map((part, i) => (i === at ? id : part))
    .join('/')
}

function inQuery(path: string, name: string, id: string): string {
  const [before, query = ''] = path.split('?')
  const kept = query.split('&').filter((pair) => pair && !pair.startsWith(`${name}=`))
  return `${before}?${[...kept, `${name}=${id}`].join('&')}`
}

function assertNothingShown({ text }: Reply, id: string | number): void {
  const without = text.replaceAll(String(id), '').replaceAll(encodeURIComponent(id), '')
  assert.ok(!without.includes(theirs.word), `shows what is theirs: ${text.slice(0, 500)}`)
}

// First: what comes later sends mail to their people.
test('a list shows nothing of another account', async () => {
  for (const op of app.operations.filter(({ effect, params }) => effect === 'read' && !params)) {
    const reply = await app.call(op.method, (await startOf(op)).path)
    assert.ok(!reply.text.includes(theirs.word), operationId(op))
  }
})

for (const op of app.operations) {
  const places = placesOf(op).filter((place) => place !== idempotencyKey)
  if (places.length === 0) continue
  describe(operationId(op), () => {
    for (const place of places) test(place, () => assertApart(op, place))
  })
}

async function assertApart(op: Operation, place: string): Promise<void> {
  const rule = ruleFor(op.path, place)
  assert.ok(rule, 'has no rule in test/tenants/cases.ts')
  if (rule.send === undefined) return
  const id = theirs.ids[rule.send]
  assert.ok(id !== undefined && id !== null, `nothing was furnished as ${rule.send}`)
  const before = await sumsOf(theirs)
  const reply = await crossed(op, place, id, rule.alone)
  assertNothingShown(reply, id)
  assert.ok(reply.status < 500, reply.text)
  if (rule.means === 'refused')
    assert.ok([400, 404, 422].includes(reply.status), `${reply.status} ${reply.text}`)
  assert.deepEqual(await sumsOf(theirs), before)
}

describe('idempotency keys', () => {
  for (const op of app.operations.filter(({ idempotent }) => idempotent)) {
    test(`${operationId(op)} does not know those of others`, async () => {
      const headers = { 'idempotency-key': `key-${theirs.word}` }
      const { path, body } = await workingExampleOf(op, app, theirs.key)
      const first = await app.call(op.method, path, { key: theirs.key, headers, body })
      assert.ok(first.status < 300, first.text)
      const own = await workingExampleOf(op, app, mine.key)
      const reply = await app.call(op.method, own.path, { key: mine.key, headers, body: own.body })
      assert.ok(reply.status < 300, reply.text)
      assert.equal(reply.headers.get('idempotency-replayed'), null)
    })
  }
})

test('a campaign cannot be addressed to a list of another account', async () => {
  const { body: list } = await app.call('GET', `/v3/contacts/lists/${mine.ids.listId}`)
  assert.equal(list.id, mine.ids.listId)
  const { body: draft } = await app.call('GET', `/v3/emailCampaigns/${mine.ids.draftId}`)
  const recipients = { listIds: [theirs.ids.listId] }
  const reply = await app.call('PUT', `/v3/emailCampaigns/${draft.id}`, { body: { recipients } })
  assert.equal(reply.status, 400, reply.text)
  const { body: after } = await app.call('GET', `/v3/emailCampaigns/${draft.id}`)
  assert.deepEqual(after.recipients, draft.recipients)
})
