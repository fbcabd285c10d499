import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Ctx, nobody } from './ctx.ts'
import type { Db } from './db.ts'
import { pageOfRows } from './page.ts'
import { Refusal } from './refusal.ts'

const ctxOf = (accountId: string, cursorKey = Buffer.alloc(32, 1)): Ctx => ({
  db: {} as Db,
  now: new Date(),
  caller: { ...nobody, accountId },
  requestId: 'req_test',
  cursorKey,
  takesMarketing: true,
})

const ctx = ctxOf('1')
const numbers = (count: number) => Array.from({ length: count }, (_, i) => String(1000 + i))

type Asked = { limit?: number; cursor?: string; list?: string; filter?: Record<string, unknown>; as?: Ctx }

function pageOf(rows: string[], { limit = 3, cursor, list = 'things', filter = {}, as = ctx }: Asked = {}) {
  const fetch = async (after: string | undefined, most: number) =>
    rows.filter((row) => after === undefined || row > after).slice(0, most)
  return pageOfRows(as, { list, filter, limit, cursor }, fetch, (row) => row)
}

async function cursorOf(asked: Asked = {}): Promise<string> {
  const { nextCursor } = await pageOf(numbers(9), asked)
  assert.ok(nextCursor)
  return nextCursor
}

const isRefusedCursor = (error: unknown) =>
  error instanceof Refusal && error.code === 'invalid_parameter' && error.told.param === 'cursor'

test('the pages together are all rows, each once, and the last says that it is', async () => {
  for (const count of [0, 1, 2, 3, 4, 6, 10]) {
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await pageOf(numbers(count), { cursor })
      seen.push(...page.rows)
      cursor = page.nextCursor ?? undefined
    } while (cursor !== undefined)
    assert.deepEqual(seen, numbers(count))
  }
})

test('no cursor leads to an empty page', async () => {
  assert.equal((await pageOf(numbers(3))).nextCursor, null)
  assert.equal((await pageOf([])).nextCursor, null)
})

test('rows that arrive in between shift nothing', async () => {
  const first = await pageOf(numbers(6))
  const second = await pageOf(['0001', ...numbers(6)], { cursor: first.nextCursor ?? '' })
  assert.deepEqual([...first.rows, ...second.rows], numbers(6))
})

test('a cursor works with the same filters however they are written, and with another page size', async () => {
  const cursor = await cursorOf({ filter: { a: 1, b: { c: 'x' }, d: undefined } })
  const page = await pageOf(numbers(9), { cursor, filter: { b: { c: 'x' }, a: 1 }, limit: 6 })
  assert.deepEqual(page.rows, numbers(9).slice(3))
})

test('a cursor of other filters, another list, another account or another installation is refused', async () => {
  const cursor = await cursorOf({ filter: { tag: 'a' } })
  const others: Asked[] = [
    { filter: { tag: 'b' } },
    { filter: {} },
    { filter: { tag: 'a', to: 'x' } },
    { list: 'others', filter: { tag: 'a' } },
    { filter: { tag: 'a' }, as: ctxOf('2') },
    { filter: { tag: 'a' }, as: ctxOf('1', Buffer.alloc(32, 2)) },
  ]
  for (const other of others) {
    await assert.rejects(
      pageOf(numbers(9), { cursor, ...other }),
      isRefusedCursor,
      JSON.stringify(other.filter),
    )
  }
})

test('a cursor that was changed anywhere is refused', async () => {
  const cursor = await cursorOf()
  const swapped = [...cursor].map(
    (letter, i) => cursor.slice(0, i) + (letter === 'A' ? 'B' : 'A') + cursor.slice(i + 1),
  )
  const others = [
    '',
    'A',
    cursor.slice(1),
    cursor.slice(0, -1),
    `${cursor}A`,
    `${cursor}=`,
    ` ${cursor}`,
    `${cursor}!`,
  ]
  for (const changed of [...swapped, ...others]) {
    await assert.rejects(pageOf(numbers(9), { cursor: changed }), isRefusedCursor, changed)
  }
})

test('a position may be any text', async () => {
  const rows = ['a é', 'b "\\', 'c 😀', 'd']
  const { nextCursor } = await pageOf(rows)
  assert.match(nextCursor ?? '', /^[\w-]+$/)
  assert.deepEqual((await pageOf(rows, { cursor: nextCursor ?? '' })).rows, ['d'])
})
