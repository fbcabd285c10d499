import assert from 'node:assert/strict'
import { test } from 'node:test'
import { quickest } from '../../test/quickest.ts'
import { nearest } from './nearest.ts'

const known = ['subject', 'template_id', 'reply_to', 'scheduled_at', 'to', 'tag']

test('a mistyped word finds the one that was meant', () => {
  const typed = { sujbect: 'subject', subjet: 'subject', replyto: 'reply_to', shceduled_at: 'scheduled_at' }
  for (const [word, meant] of Object.entries(typed)) assert.equal(nearest(word, known), meant, word)
})

test('letters in the wrong order are one mistake, also in short words', () => {
  for (const word of ['htlm', 'hmtl']) assert.equal(nearest(word, ['html', 'text']), 'html', word)
  assert.equal(nearest('ot', known), 'to')
  assert.equal(nearest('atg', known), 'tag')
})

test('case and separators make no difference', () => {
  for (const word of ['templateId', 'TEMPLATE-ID', 'template id'])
    assert.equal(nearest(word, known), 'template_id')
})

test('a word that resembles none finds none', () => {
  for (const word of ['attachment', 'zzz', '', '___', 'x'.repeat(64)])
    assert.equal(nearest(word, known), undefined)
  assert.equal(nearest('subject', []), undefined)
})

test('a very long word is answered at once', async () => {
  const took = await quickest(500, () => nearest('subject'.repeat(200_000), known))
  assert.ok(took < 500, `${took} ms`)
})
