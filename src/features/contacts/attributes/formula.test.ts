import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'
import { FormulaFault, readFormula, readGlobalFormula } from './formula.ts'
import type { Attribute, AttributeType } from './values.ts'

const attribute = (name: string, type: AttributeType | null): Attribute => ({
  name,
  category: 'normal',
  type,
  enumeration: null,
  options: null,
})
const attributes = [
  attribute('A', 'float'),
  attribute('B-C', 'float'),
  attribute('BORN', 'date'),
  attribute('NAME', 'text'),
  attribute('SCORE', null),
]
const now = new Date('2026-11-15T12:00:00Z')
const compute = (text: string, values = {}) => readFormula(text, attributes)(values, now)

describe('a formula', () => {
  test('is arithmetic over numbers and dates', () => {
    const values = { A: 6, 'B-C': 4, BORN: '2026-11-01' }
    const results: [string, unknown][] = [
      ['1 + 2 * 3', 7],
      ['(1 + 2) * 3', 9],
      ['-A - -2', -4],
      ['a-b-c', 2],
      ['A / B-C', 1.5],
      ['A / 0', null],
      ['.5 * A', 3],
      ['NOW()', '2026-11-15'],
      ['NOW(-15)', '2026-10-31'],
      ['NOW() - BORN', 14],
      ['(NOW() - BORN) / 7', 2],
      ['BORN + 30', '2026-12-01'],
      ['BORN + A * 1000000000', null],
      ['SUM[A] + COUNT(NAME)', 6],
      ['AVG[A]', 6],
      [' A\n+ 1 ', 7],
    ]
    for (const [text, expected] of results) assert.equal(compute(text, values), expected, text)
    assert.deepEqual([compute('A + 1'), compute('SUM[A]'), compute('MIN[A]')], [null, 0, null])
  })

  test('that cannot be computed is refused, whatever it is', () => {
    const bad = [
      '',
      '1 +',
      '(1',
      '1)',
      '1 2',
      'NOPE',
      'NAME + 1',
      'SCORE + 1',
      'BORN + BORN',
      'BORN * 2',
      '1 - BORN',
      'SUM[NAME]',
      'SUM[A',
      'SUM A',
      'COUNT[A,BORN,==,NOW(-1)]',
      'A.constructor',
      'process.exit(1)',
      '\u{1F4A9}',
      '1..2',
      '('.repeat(2_000),
    ]
    for (const text of bad) assert.throws(() => compute(text, {}), FormulaFault, text)
    for (const text of ['A', 'SUM[A] + 1', 'SUM[NAME]', 'MEDIAN[A]', ''])
      assert.throws(() => readGlobalFormula(text, attributes), FormulaFault, text)
    assert.equal(compute(`${'-'.repeat(1_900)}1`), 1)
  })
})

test('calculated and global attributes are shown with what they come to', async () => {
  const app = await makeApp({ env: { POSTHORN_RATE_LIMIT_FACTOR: '100' } })
  const { key } = await app.makeAccount()
  const call = (method: string, path: string, body?: unknown) => app.call(method, path, { key, body })
  const declare = (path: string, body: object) => call('POST', `/v3/contacts/attributes/${path}`, body)
  await declare('normal/AMOUNT', { type: 'float' })
  for (const [path, value] of [
    ['calculated/GROSS', 'AMOUNT * 1.2'],
    ['calculated/AGAIN', 'AMOUNT / 0'],
    ['global/TOTAL', 'SUM[AMOUNT]'],
    ['global/MEAN', 'AVERAGE[AMOUNT]'],
    ['global/PEOPLE', 'COUNT[AMOUNT]'],
    ['global/NOBODY', 'MAX[AMOUNT]'],
  ] as const)
    assert.equal((await declare(path, { value })).status, 201, path)
  const refused = await declare('calculated/BAD', { value: 'AMOUNT * FIRSTNAME' })
  assert.equal(refused.status, 400)
  assert.match(refused.body.message, /cannot be computed: FIRSTNAME is neither/)
  const shown = async () => {
    const { body } = await call('GET', '/v3/contacts/attributes')
    const rows: { name: string; category: string; computedValue?: number }[] = body.attributes
    return Object.fromEntries(
      rows.filter(({ category }) => category === 'global').map((one) => [one.name, one.computedValue]),
    )
  }
  assert.deepEqual(await shown(), { TOTAL: null, MEAN: null, PEOPLE: 0, NOBODY: null })
  for (const [i, AMOUNT] of [10, 30, undefined].entries())
    await call('POST', '/v3/contacts', { email: `p${i}@example.com`, attributes: { AMOUNT, GROSS: 99 } })
  assert.deepEqual(await shown(), { TOTAL: 40, MEAN: 20, PEOPLE: 2, NOBODY: 30 })
  assert.deepEqual((await call('GET', '/v3/contacts/p0@example.com')).body.attributes, {
    AMOUNT: 10,
    GROSS: 12,
  })
  const { contacts } = (await call('GET', '/v3/contacts')).body
  assert.deepEqual(
    contacts.map((one: { attributes: object }) => one.attributes),
    [{}, { AMOUNT: 30, GROSS: 36 }, { AMOUNT: 10, GROSS: 12 }],
  )
  const change = (value: string) => call('PUT', '/v3/contacts/attributes/calculated/GROSS', { value })
  assert.equal((await change('AMOUNT * NOPE')).status, 400)
  assert.equal((await change('AMOUNT * 2')).status, 204)
  assert.equal((await call('GET', '/v3/contacts/p1@example.com')).body.attributes.GROSS, 60)
  await call('DELETE', '/v3/contacts/attributes/normal/AMOUNT')
  assert.deepEqual((await call('GET', '/v3/contacts/p1@example.com')).body.attributes, {})
  const sent = await call('POST', '/v3/smtp/email', {
    sender: { email: 'a@example.com' },
    to: [{ email: 'p0@example.com' }],
    subject: 'x',
    textContent: 'x {{ contact.GROSS }}',
  })
  assert.equal(sent.status, 201)
})
