import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { compileTemplate, type TemplateScope } from './compile.ts'
import { engines, type Kind } from './engine.ts'

const scope: TemplateScope = {
  params: {
    x: '<b>&',
    evil: '<i>',
    list: ['<p>', '<q>'],
    evils: ['<i>', '<u>'],
    n: 2,
    none: null,
    coded: '%3Ci%3E',
    base: 'PGk+',
  },
}

const render = (source: string, kind: Kind = 'html') => compileTemplate(source, kind).render(scope)

const renderings: [string, string][] = [
  ['{{ params.x|safe|upper }}', '<B>&'],
  ['{{ params.x|safe|upper|lower }}', '<b>&'],
  ['{{ params.x|upper|safe|lower }}', '<b>&'],
  ['{{ params.none|default:"<i>"|safe }}', '<i>'],
  ['{{ params.none|safe|default:"<i>-</i>" }}', '<i>-</i>'],
  ['{{ params.list|safe|join:"<br>" }}', '<p><br><q>'],
  ['{{ params.list|join:"<br>"|safe }}', '<p><br><q>'],
  ['{{ params.x|safe|add:"<br>" }}', '<b>&<br>'],
  ['{{ params.x|safe|raw|truncatechars:params.n }}', '<…'],
  ['{{ params.x|safe|escape }}', '&lt;b&gt;&amp;'],
  // What is called safe is the value, and not what others put in.
  ['{{ params.x|safe|add:params.evil }}', '<b>&&lt;i&gt;'],
  ['{{ params.none|safe|default:params.evil }}', '&lt;i&gt;'],
  ['{{ params.x|safe|replace:"<b>",params.evil }}', '&lt;i&gt;&'],
  ['{{ params.list|safe|join:params.evil }}', '<p>&lt;i&gt;<q>'],
  ['{{ params.list|safe|concat:params.evils|join }}', '<p> <q> &lt;i&gt;, &lt;u&gt;'],
  ['{{ params.none|safe|default:params.evil|safe }}', '&lt;i&gt;'],
  ['{% echo params.x|safe|upper %}', '<B>&'],
  ['{% cycle params.x|safe|upper, "b" %}', '<B>&'],
  ['{% cycle params.x|safe|add:params.evil %}', '<b>&&lt;i&gt;'],
  ['{% echo params.x|upper %}{% cycle params.x|upper %}', '&lt;B&gt;&amp;&lt;B&gt;&amp;'],
  ['{% assign y = params.x|safe|upper %}{{ y }}', '&lt;B&gt;&amp;'],
  ['{% capture c %}<p>{% endcapture %}{{ params.x|safe|add:c }}', '<b>&<p>'],
  ['{{ params.x|upper }}{% if params.x|safe|upper == "<B>&" %}yes{% endif %}', '&lt;B&gt;&amp;yes'],
  // What is decoded later could not be escaped before.
  ['{{ ""|safe|add:params.coded|url_decode }}', '&lt;i&gt;'],
  ['{{ ""|safe|default:params.base|base64_decode }}', '&lt;i&gt;'],
  ['{{ params.coded|safe|url_decode|upper }}', '&lt;I&gt;'],
  ['{{ params.coded|url_decode|safe|upper }}', '<I>'],
  ['{% with y=""|safe|add:params.coded|url_decode %}{{ y }}{% endwith %}', '&lt;i&gt;'],
  ['{% cycle ""|safe|add:params.coded|url_decode %}', '&lt;i&gt;'],
  ['{% autoescape off %}{{ params.x|safe|add:params.evil }}{% endautoescape %}', '<b>&&lt;i&gt;'],
]

describe('what is called safe', () => {
  for (const [source, expected] of renderings)
    test(source, async () => assert.equal(await render(source), expected))
})

test('what follows safe has no name of its own', () => {
  assert.throws(
    () => compileTemplate('{{ params.x|safe_linebreaks }}', 'html'),
    /Unknown filter "safe_linebreaks"/,
  )
})

test('text is not escaped, whatever is called safe', async () => {
  assert.equal(await render('{{ params.x|safe|add:params.evil }}', 'text'), '<b>&<i>')
})

const filters = ['upper', 'lower', 'capfirst', 'safe', 'add:params.y', 'default:params.y', 'cut:"z"', 'title']

test('a value is never printed as it stands where nobody called it safe', async () => {
  const chain = fc.array(fc.constantFrom(...filters), { maxLength: 4 })
  const property = fc.asyncProperty(chain, fc.boolean(), async (asked, isEmpty) => {
    const source = `{{ ${['params.x', ...asked].join('|')} }}`
    const html = await compileTemplate(source, 'html').render({ params: { x: isEmpty ? '' : 'x', y: '<y>' } })
    const safe = asked.map((one) => one === 'safe')
    // A later safe speaks of all that was put in before it.
    const isCalledSo = asked.some((one, i) => one.endsWith('params.y') && safe.indexOf(true) > i)
    if (!isCalledSo) assert.doesNotMatch(html, /<y>/i, source)
  })
  await fc.assert(property, { numRuns: 500 })
})

const calls = ['safe', 'raw', 'safeseq']
const every = Object.keys(engines.html.filters).filter((name) => !calls.includes(name) && !name.includes(' '))
const step = fc
  .tuple(
    fc.constantFrom(...every),
    fc.constantFrom('', ':params.y', ':"a"', ':2', ':params.list', ':params.y, params.x', ':"x", params.y'),
  )
  .map(([name, argument]) => name + argument)
const values = fc.constantFrom(
  'params.x',
  'params.y',
  'params.list',
  'params',
  '(params.x + params.y)',
  '"a"',
)
const shapes: ((value: string) => string)[] = [
  (value) => `{{ ${value} }}`,
  (value) => `{% echo ${value} %}{% firstof ${value} %}{% cycle ${value} %}`,
  (value) => `{% with a=${value} %}{{ a }}{{ a|upper }}{% endwith %}`,
  (value) => `{% set a = ${value} %}{{ a }}{% capture b %}{{ a }}{% endcapture %}{{ b }}`,
  (value) =>
    `{% for a, b in ${value} %}{{ a }}{{ b }}{% endfor %}{% for a in params %}{{ a }}{{ a[1] }}{% endfor %}`,
]

test('nothing is printed unescaped by any filter, in any place, where nothing is called safe', async () => {
  const params = { x: 'a<y>b', y: '<y>', list: ['<y>', 'a<y>'], '<y>': '<Y>' }
  const property = fc.asyncProperty(
    values,
    fc.array(step, { maxLength: 3 }),
    fc.constantFrom(...shapes),
    async (value, chain, shape) => {
      const source = shape([value, ...chain].join('|'))
      const html = await compileTemplate(source, 'html')
        .render({ params })
        .catch(() => '')
      assert.doesNotMatch(html, /<y/i, source)
    },
  )
  await fc.assert(property, { numRuns: 3_000 })
})
