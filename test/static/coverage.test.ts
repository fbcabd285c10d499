import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { withTables } from '../../scripts/coverage-table.ts'

test('docs/moving-from-brevo.md names every operation under /v3 as it is declared', () => {
  const page = readFileSync(new URL('../../docs/moving-from-brevo.md', import.meta.url), 'utf8')
  assert.ok(withTables(page) === page, 'The page is out of date; run: npm run coverage')
})
