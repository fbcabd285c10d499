import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { makeDatabase } from '../../test/app.ts'
import { openPool } from './db.ts'
import { bool, bytes, holdAgainst, int, json, maybe, row, text, texts, time } from './row.ts'
import { sql } from './sql.ts'

const url = await makeDatabase()
const open = (checkRows: boolean) => {
  const pool = openPool({ url, max: 2, name: 'test', durable: true, checkRows, onError: () => {} })
  after(() => pool.close())
  return pool
}
const strict = open(true)
const lax = open(false)

type All = {
  t: string
  i: number
  b: boolean
  at: Date
  raw: Buffer
  ts: string[]
  doc: { a: number }
  none: string | null
}
const All = row<All>({
  t: text,
  i: int,
  b: bool,
  at: time,
  raw: bytes,
  ts: texts,
  doc: json(),
  none: maybe(text),
})

test('what the driver gives fits the column kinds; large numbers stay exact, as text', async () => {
  const found = await strict.one(
    All,
    sql`select 9007199254740993::bigint as t, 7 as i, true as b, now() as at, '\\x01'::bytea as raw,
               array['a'] as ts, '{"a": 1}'::jsonb as doc, null::text as none`,
  )
  assert.deepEqual([found.t, found.i, found.doc, found.none], ['9007199254740993', 7, { a: 1 }, null])
})

test('under test a row of another shape fails and says which column, in which statement', async () => {
  const Shape = row<{ id: string; n: number }>({ id: text, n: int })
  const wrong = [
    [sql`select 'x' as id, 1::bigint as n`, /n is not a number/],
    [sql`select null::text as id, 1 as n`, /id is not text/],
    [sql`select 'x' as id`, /n is not a number/],
    [sql`select 'x' as id, 1 as n, 2 as extra`, /extra is not in the shape/],
  ] as const
  for (const [statement, says] of wrong) {
    await assert.rejects(strict.one(Shape, statement), says)
    await assert.rejects(strict.many(Shape, statement), /in: select/)
    await assert.rejects(strict.maybe(Shape, statement), says)
    await assert.rejects(
      strict.transaction((tx) => tx.one(Shape, statement)),
      says,
    )
  }
})

test('in service no row is held up for its shape', async () => {
  const Shape = row<{ n: number }>({ n: int })
  assert.deepEqual(await lax.one(Shape, sql`select '1' as n`), { n: '1' })
})

test('every fault of a row is told at once', () => {
  const Shape = row<{ a: string; b: number | null }>({ a: text, b: maybe(int) })
  assert.throws(
    () => holdAgainst(Shape, { a: 1, b: 'x', c: 1 }, 'select'),
    /a is not text, b is not a number or null, c is not in the shape/,
  )
})
