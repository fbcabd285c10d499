import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { known, type Texts } from './texts.ts'

const texts = Object.entries(known)
const { en } = known as { en: Texts }
const names = Object.keys(en) as (keyof Texts)[]
const given = ['a…b@example.com', 'Erste', 'Zweite']

describe('the pages in every language', () => {
  for (const [language, own] of texts) {
    test(`${language} says everything, and names what it is given`, () => {
      assert.equal(own.lang, language)
      assert.deepEqual(Object.keys(own).sort(), names.toSorted())
      for (const name of names) {
        const [text, english] = [own[name], en[name]]
        if (typeof english !== 'function') {
          assert.ok(typeof text === 'string' && text.trim() !== '', name)
          continue
        }
        assert.ok(typeof text === 'function' && text.length === english.length, name)
        const values = given.slice(0, text.length)
        const said = (text as (...values: string[]) => string)(...values)
        for (const value of values) assert.equal(said.split(value).length, 2, `${name}: ${said}`)
        assert.doesNotMatch(said, /undefined|\$\{/)
      }
    })
  }

  test('are texts of their own', () => {
    // One word that two languages share is no fault.
    const shared = names.filter((name) => name !== 'goOn')
    for (const [language, own] of texts)
      for (const [other, theirs] of texts) {
        if (language >= other) continue
        for (const name of shared)
          assert.notEqual(String(own[name]), String(theirs[name]), `${name} ${other}`)
      }
  })

  test('write email in one way', () => {
    for (const [language, own] of texts) {
      const saying = (text: Texts[keyof Texts]) =>
        typeof text === 'function' ? (text as (...values: string[]) => string)(...given) : text
      const said = names.map((name) => saying(own[name])).join(' ')
      const ways = new Set(said.toLowerCase().match(/\be-?mail/g))
      assert.ok(ways.size < 2, `${language}: ${[...ways]}`)
    }
  })
})
