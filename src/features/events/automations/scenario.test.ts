import assert from 'node:assert/strict'
import { test } from 'node:test'
import { languageOf, languages, leaveWords } from '../../contacts/unsubscribe/leave-words.ts'
import { compileTemplate } from '../../messages/templates/compile.ts'
import { scenarioSteps } from './scenario.ts'

test('the reminders of a cart are written in every language, each in its own words', () => {
  const seen = new Set<string>()
  for (const language of languages) {
    const steps = scenarioSteps(language)
    assert.equal(steps.length, 3)
    for (const { subject = '', html = '' } of steps) {
      assert.ok(subject !== '' && !seen.has(subject), subject)
      seen.add(subject)
      assert.ok(html.includes(`<html lang="${language}">`) && !html.includes('undefined'))
    }
    assert.ok(leaveWords[language] !== '')
  }
})

test('the language of a contact is read from its attribute', () => {
  const of = (LANGUAGE: unknown) => languageOf({ LANGUAGE })
  assert.deepEqual(['de', 'DE-at', 'pl_PL', ' es ', 'fr_FR', 'French', 'pt-BR'].map(of), [
    'de',
    'de',
    'pl',
    'es',
    'fr',
    'fr',
    'pt',
  ])
  for (const other of ['en-GB', 'Estonian', 'Deutsch', 'ja', '', 7, null]) assert.equal(of(other), 'en')
  assert.equal(languageOf(null), 'en')
})

test('an amount of nothing is shown like any other', async () => {
  const items = [{ price: 10.5 }, { price: 0 }, { price: '0.00' }, { price: '' }, {}]
  const scope = { event: { cart: { currency: 'EUR', total: 0, items } } }
  const html = await compileTemplate(scenarioSteps('en')[0]?.html ?? '', 'html').render(scope)
  assert.deepEqual(html.match(/[\d.]* EUR/g), ['10.5 EUR', '0 EUR', '0.00 EUR', '0 EUR'])
})
