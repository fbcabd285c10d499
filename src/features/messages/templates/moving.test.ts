import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { describe, test } from 'node:test'
import { compileTemplate, type TemplateScope } from './compile.ts'
import { engines } from './engine.ts'

// The page for those who move is the list of these tests.
const page = readFileSync(new URL('../../../../docs/moving-from-brevo.md', import.meta.url), 'utf8')

const chapter = (heading: string) => {
  const [, text] = page.split(`${heading}\n`)
  assert.ok(text, `The page has no chapter "${heading}"`)
  return text.split(/^#{2,3} /m)[0] ?? ''
}

/** A bar within a cell is written with a backslash. */
const rowsOf = (text: string) =>
  [...text.matchAll(/^\| (`.*) \|$/gm)].map(([, row = '']) =>
    row.split(/ (?<!\\)\| /).map((cell) => cell.replaceAll('\\|', '|').replace(/^`+(.*?)`+$/s, '$1')),
  )

const scope: TemplateScope = JSON.parse(/```json\n(.*?)```/s.exec(chapter('## Templates'))?.[1] ?? '')

for (const heading of ['### What is the same', '### What may differ'])
  describe(heading, () => {
    const rows = rowsOf(chapter(heading))
    test('the page has examples', () => assert.ok(rows.length > 10))
    for (const [source = '', prints = ''] of rows)
      test(source, async () =>
        assert.equal(await compileTemplate(source, 'html').render(scope), prints.replaceAll('\\n', '\n')),
      )
  })

describe('### What is refused', () => {
  const rows = rowsOf(chapter('### What is refused'))
  test('the page has examples', () => assert.ok(rows.length > 10))
  for (const [source = '', message] of rows)
    test(source, () =>
      assert.throws(() => compileTemplate(source, 'html'), { name: 'TemplateFault', message, line: 1 }),
    )
})

test('each filter that the page names is there', () => {
  const [, list = ''] = /The filters are these(.*?)\n\n/s.exec(page) ?? []
  const names = [...list.matchAll(/`(\w+)`/g)].map(([, name = '']) => name)
  assert.ok(names.length > 40)
  assert.deepEqual(
    names.filter((name) => !Object.hasOwn(engines.html.filters, name)),
    [],
  )
})
