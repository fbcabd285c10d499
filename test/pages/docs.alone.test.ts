import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../app.ts'
import { domOf, withoutBrowser } from '../browser.ts'

const app = await makeApp()

test('the documentation page shows every operation in a browser that reaches nobody else', {
  skip: withoutBrowser,
}, async () => {
  const dom = await domOf(`${app.url}/docs`)
  for (const { summary } of app.operations) {
    assert.ok(dom.includes(summary.replaceAll('&', '&amp;')), summary)
  }
})
