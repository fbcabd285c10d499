import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compile, sql, valueRows, when } from './sql.ts'

test('values become numbered places, in the order of writing', () => {
  const { text, values } = compile(sql`select ${1}, ${'two'}, ${null}`)
  assert.equal(text, 'select $1, $2, $3')
  assert.deepEqual(values, [1, 'two', null])
})

test('pieces nest to any depth and the numbers go on', () => {
  const inner = sql`b = ${2} ${sql`and c = ${3}`}`
  const { text, values } = compile(sql`select * from t where a = ${1} and ${inner} limit ${4}`)
  assert.equal(text, 'select * from t where a = $1 and b = $2 and c = $3 limit $4')
  assert.deepEqual(values, [1, 2, 3, 4])
})

test('a piece used twice brings its values twice', () => {
  const piece = sql`x = ${7}`
  assert.deepEqual(compile(sql`${piece} or ${piece}`).values, [7, 7])
})

test('text never becomes SQL, nor does an object that looks like a piece', () => {
  const hostile = "'; drop table accounts; --"
  const { text, values } = compile(sql`select ${hostile}, ${{ strings: ['drop'], values: [] }}`)
  assert.equal(text, 'select $1, $2')
  assert.equal(values[0], hostile)
})

test('a piece stands only when its value is there; zero, false and empty text are values', () => {
  const withLimit = (limit?: unknown) => compile(sql`select 1${when(limit, (n) => sql` limit ${n}`)}`)
  for (const there of [0, false, '']) assert.deepEqual(withLimit(there).values, [there])
  for (const absent of [undefined, null]) assert.deepEqual(withLimit(absent), compile(sql`select 1`))
})

test('one text has one name, whatever its values; another text has another', () => {
  const statement = (n: number) => compile(sql`select ${n}`)
  assert.equal(statement(1).name, statement(2).name)
  assert.notEqual(statement(1).name, compile(sql`select ${1} `).name)
  // PostgreSQL cuts names at 63 bytes, and two that are cut alike would be mixed up.
  assert.ok(Buffer.byteLength(statement(1).name) <= 63)
})

test('rows of values are rounded up with nulls, so that few texts serve all counts', () => {
  const around = { before: 'insert into t select * from (values', after: ') v (a, b) where a is not null' }
  const of = (count: number) =>
    compile(
      valueRows(
        around,
        ['uuid', 'text'],
        Array.from({ length: count }, (_, i) => [`id ${i}`, null]),
      ),
    )
  const three = of(3)
  assert.match(
    three.text,
    /^insert into t select \* from \(values \(\$1::uuid, \$2::text\), \(\$3::uuid, \$4::text\)/,
  )
  assert.match(three.text, /\$15::uuid, \$16::text\) \) v \(a, b\) where a is not null$/)
  assert.deepEqual(three.values.slice(0, 7), ['id 0', null, 'id 1', null, 'id 2', null, null])
  assert.equal(three.values.length, 16)
  assert.equal(of(8).name, three.name)
  assert.notEqual(of(9).name, three.name)
})
