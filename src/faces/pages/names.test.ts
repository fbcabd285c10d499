import assert from 'node:assert/strict'
import { test } from 'node:test'
import { quickest } from '../../../test/quickest.ts'
import { addressIn, nameIn, titleOf, withNames } from './names.ts'

const arabic = 'نشرة (2026)!'

test('a name is set apart from the words around it, and cannot turn them round', () => {
  assert.equal(withNames(`On “${nameIn(arabic)}”?`).text, `On “<bdi>${arabic}</bdi>”?`)
  assert.equal(withNames(`Of ${nameIn('a\u202eb\u2069<i>')}.`).text, 'Of <bdi>ab&#60;i&#62;</bdi>.')
  assert.equal(withNames('No name & none.').text, 'No name &#38; none.')
})

test('an address keeps the full stop behind it on its line', () => {
  const text = `${nameIn('Shop')} to ${addressIn('a…b@example.com')}. Yes`
  const address = '<span class="address"><bdi dir="ltr">a…b@example.com</bdi>.</span>'
  assert.equal(withNames(text).text, `<bdi>Shop</bdi> to ${address} Yes`)
})

test('a name that ends with a full stop ends the sentence', () => {
  assert.equal(withNames(`From ${nameIn('Acme Ltd.')}.`).text, 'From <bdi>Acme Ltd.</bdi>')
  assert.equal(withNames(`From ${nameIn('Acme Ltd.')}?`).text, 'From <bdi>Acme Ltd.</bdi>?')
  assert.equal(titleOf(`From ${nameIn('Acme Ltd.')}.`), 'From Acme Ltd.')
})

test('a title keeps the marks where they do something', () => {
  assert.equal(titleOf(`Of ${nameIn('Shop')}?`), 'Of Shop?')
  assert.equal(titleOf(`Of ${nameIn(arabic)}?`), `Of \u2068${arabic}\u2069?`)
})

test('marks that nothing closes cost no more than text', async () => {
  const text = '\u2068'.repeat(200_000)
  const took = await quickest(1_000, () => [withNames(text), titleOf(text)])
  assert.ok(took < 1_000, `${took} ms`)
})
