import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { compileTemplate, environmentOf, slowTemplate } from './compile.ts'
import { engines, type Kind, printers } from './engine.ts'
import { joined, templateParts } from './fast-path.ts'
import { parse } from './parse.ts'

const bothWays = (source: string, kind: Kind) => {
  const templates = parse(engines[kind], source)
  return { fast: templateParts(templates, printers[kind]), slow: slowTemplate(templates, kind) }
}

const names = [
  'a',
  'b',
  'items',
  '0',
  '1',
  'size',
  'first',
  'last',
  'constructor',
  '__proto__',
  'length',
  'toString',
]
const root = fc.constantFrom(
  'params',
  'contact',
  'event',
  'unsubscribe',
  'mirror',
  'x',
  'size',
  'constructor',
  'None',
)
const path = fc
  .tuple(root, fc.array(fc.constantFrom(...names), { maxLength: 3 }))
  .map(([first, rest]) => [first, ...rest].join('.'))
const literal = fc.oneof(
  fc.constantFrom('"there"', "'a <b>'", '"é…"', '""', '3', '-1', '2.5'),
  path,
  path.map((each) => each.replace(/\.(\w+)$/, '["$1"]')),
)
const filter = fc.oneof(
  fc.constantFrom(
    'upper',
    'lower',
    'upcase',
    'downcase',
    'title',
    'capfirst',
    'capitalize',
    'length',
    'floatformat',
  ),
  fc.constantFrom('escape', 'safe', 'raw', 'linebreaksbr', 'escape_once', 'pluralize', 'yesno'),
  fc
    .tuple(
      fc.constantFrom('default', 'truncatechars', 'floatformat', 'cut', 'add', 'default_if_none'),
      literal,
    )
    .map(([name, argument]) => `${name}:${argument}`),
)
const output = fc
  .tuple(
    literal,
    fc.array(filter, { maxLength: 3 }),
    fc.constantFrom('{{ ', '{{', '{{- '),
    fc.constantFrom(' }}', '}}', ' -}}'),
  )
  .map(([value, filters, open, close]) => open + [value, ...filters].join(' | ') + close)
const text = fc.constantFrom(
  '',
  ' ',
  'Dear ',
  '<p class="x">\n',
  '&amp; %x% ',
  '} ',
  'é\n',
  '{% comment %}z{% endcomment %}',
)
const source = fc.array(fc.oneof(output, text), { maxLength: 12 }).map((pieces) => pieces.join(''))

const leaf = fc.oneof(
  fc.string({ unit: 'grapheme' }),
  fc.constantFrom(`<a href="x">&'`, '', null, undefined),
  fc.double(),
  fc.boolean(),
)
const data = fc.letrec((tie) => ({
  value: fc.oneof({ maxDepth: 3 }, leaf, fc.array(tie('value'), { maxLength: 3 }), tie('object')),
  object: fc.dictionary(fc.constantFrom(...names), tie('value'), { maxKeys: 4, noNullPrototype: false }),
}))
const scope = fc.record(
  {
    params: data.value,
    contact: data.object as fc.Arbitrary<Record<string, unknown>>,
    event: data.value,
    x: data.value,
    unsubscribe_url: fc.string(),
    mirror: fc.string(),
  },
  { requiredKeys: [] },
)

test('the fast path renders what the library renders', () => {
  fc.assert(
    fc.property(source, scope, fc.constantFrom<Kind>('html', 'text'), (template, values, kind) => {
      const { fast, slow } = bothWays(template, kind)
      assert.ok(fast, template)
      assert.equal(joined(fast, environmentOf(values)), slow(environmentOf(values)))
    }),
    { numRuns: 2_000 },
  )
})

test('the fast path leaves to the library what it does not know', () => {
  const foreign = [
    '{% if params.a %}x{% endif %}',
    '{{ params.a | append: "x" }}',
    '{{ params[contact.a] }}',
    '{{ params.a and params.b }}',
    '{{ true }}',
    '{% raw %}x{% endraw %}',
    '{{ params.a | date: "Y" }}',
  ]
  for (const each of foreign) assert.equal(bothWays(each, 'html').fast, undefined, each)
})

test('a template without outputs is its own text', async () => {
  assert.equal(await compileTemplate('<p>100 % {x}</p>', 'html').render({}), '<p>100 % {x}</p>')
})
