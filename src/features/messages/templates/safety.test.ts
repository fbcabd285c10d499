import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { compileTemplate, type TemplateScope } from './compile.ts'
import { isTemplateFault } from './fault.ts'
import { limits } from './limits.ts'

const scope: TemplateScope = {
  params: {
    text: 'abc',
    number: 5,
    list: [1, 2],
    made: { call: () => 'called', fine: 'fine' },
    shadow: JSON.parse('{"toString": "x", "__proto__": {"polluted": "own"}}'),
  },
}

const faultFrom = async (source: string, kind: 'html' | 'text' = 'html') => {
  try {
    await compileTemplate(source, kind).render(scope)
  } catch (error) {
    assert.ok(isTemplateFault(error), String(error))
    return error
  }
  return assert.fail(`No fault: ${source.slice(0, 80)}`)
}

const outOfReach = [
  'constructor',
  '__proto__',
  'globalThis',
  'process',
  'require',
  'toString',
  'hasOwnProperty',
  'params.constructor',
  'params.constructor.constructor',
  'params.__proto__',
  'params.toString',
  'params["constructor"]["prototype"]',
  'params.text.constructor',
  'params.text.toString',
  'params.text.__proto__',
  'params.number.toFixed',
  'params.list.map',
  'params.list.constructor',
  'params.made.call',
  'params.made.call.name',
  '"x".constructor',
  'params.list | map: "constructor"',
  'params.list | where: "constructor" | first',
  'params | map: "__proto__"',
]

describe('a template cannot reach', () => {
  for (const path of outOfReach)
    test(path, async () => {
      const source = `[{{ ${path} }}]`
      assert.equal(await compileTemplate(source, 'html').render(scope), '[]')
      assert.equal(await compileTemplate(`{% if 1 %}${source}{% endif %}`, 'html').render(scope), '[]')
    })
})

test('the loop variable shows its counters only', async () => {
  const source =
    '{% for i in params.list %}[{{ forloop.constructor }}{{ forloop.valueOf }}{{ forloop.next }}]{% endfor %}'
  assert.equal(await compileTemplate(source, 'html').render(scope), '[][]')
})

test('data with the names of built-in members is only data', async () => {
  const source =
    '{{ params.shadow.__proto__.polluted }}{{ params.shadow.toString }}{{ params.shadow | upper }}'
  assert.match(await compileTemplate(source, 'text').render(scope), /^ownx\{"TOSTRING":"X"/)
  assert.equal(({} as { polluted?: string }).polluted, undefined)
})

test('rendering does not change the data it was given', async () => {
  const data = { params: { n: 1 } }
  await compileTemplate('{% increment params %}{% assign contact = 3 %}{% decrement x %}', 'html').render(
    data,
  )
  assert.deepEqual(data, { params: { n: 1 } })
})

test('a counter begins anew in each rendering', async () => {
  const counting = compileTemplate('{% increment seen %}{% increment seen %}', 'html')
  assert.equal(await counting.render({}), '01')
  assert.equal(await counting.render({}), '01')
  assert.equal(await compileTemplate('{% decrement seen %}', 'html').render({}), '-1')
})

test('the name of a property, read anew for each entry of a list, is not long', async () => {
  const message = /name of a property has at most 200 characters/
  const list = Array.from({ length: 20_000 }, (_, n) => ({ n: -n }))
  const scope = { params: { list, names: list.map(({ n }) => n), name: 'n.'.repeat(50_000) } }
  const filters = 'dictsort find find_index group_by has map reject sort sort_natural sum where'.split(' ')
  for (const filter of filters)
    for (const name of ['names', 'name']) {
      const compiled = compileTemplate(`{{ params.list | ${filter}: params.${name} }}`, 'html')
      await assert.rejects(compiled.render(scope), { name: 'TemplateFault', message }, filter)
    }
  const sorted = compileTemplate('{{ params.list | sort: "n" | map: "n" | first }}', 'html')
  assert.equal(await sorted.render(scope), '-19999')
})

const oneText = 'A template is one text: put the other one into it.'

const misspelt: [string, string, number, number][] = [
  ['{{ x | shout }}', 'Unknown filter "shout".', 1, 1],
  ['line\n  {{ x | shout }}', 'Unknown filter "shout".', 2, 3],
  ['{% fi x %}', 'Unknown tag "fi".', 1, 1],
  ['{% include "/etc/passwd" %}', `Unknown tag "include". ${oneText}`, 1, 1],
  ['{% render "x" %}', 'Unknown tag "render".', 1, 1],
  ['{% layout "x" %}', 'Unknown tag "layout".', 1, 1],
  ['{% if x %}', '{% if x %} is not closed.', 1, 1],
  ['a {{ x', 'The tag "{{ x" is not closed.', 1, 3],
  ['{{ first name }}', 'An expression is malformed.', 1, 1],
  ['a {# x #}{{ x | }}', 'A filter is missing behind "|".', 1, 10],
  ['\n{% if x %}{% elif y | -%}{% endif %}', 'A filter is missing behind "|".', 2, 11],
  ['{{ x | | upper }}', 'The template cannot be read: expected filter name.', 1, 8],
  ['{{ x | where_exp: "i", "i" }}', 'Unknown filter "where_exp".', 1, 1],
  ['a{% autoescape maybe %}{% endautoescape %}', 'The tag autoescape is followed by on or off.', 1, 2],
  ['{% autoescape off %}{{ a }}', '{% autoescape off %} is not closed.', 1, 1],
]

describe('a fault names what is wrong and where', () => {
  for (const [source, message, line, column] of misspelt)
    test(source, () =>
      assert.throws(() => compileTemplate(source, 'html'), {
        name: 'TemplateFault',
        message,
        line,
        column,
      }),
    )
})

const runaways: [string, string, RegExp][] = [
  // Over one list: a range of its own for each loop would run into the limit of memory first, or not, by the machine.
  [
    'nested loops',
    `{% assign a = (1..1000) %}${'{% for i in a %}'.repeat(4)}${'{% endfor %}'.repeat(4)}`,
    /too long/,
  ],
  ['a huge range', '{% for i in (1..100000000) %}x{% endfor %}', /memory/],
  ['a huge range in an output', '{{ (1..100000000) | join }}', /memory/],
  [
    'doubling with a filter',
    `{% assign s = "xxxxxxxx" %}${forEach(60, '{% assign s = s | append: s %}')}`,
    /memory/,
  ],
  [
    'doubling with a filter of our own',
    `{% assign s = "xxxxxxxx" %}${forEach(60, '{% assign s = s | add: s %}')}`,
    /too much text/,
  ],
  ['a list of lists of lists, printed', `${nested(12)}{{ a }}`, /memory/],
  ['a list of lists of lists, compared', `${nested(12)}{% if a == a %}x{% endif %}`, /memory/],
  ['a list of lists that grows by its own entries', `${nested(12, 'concat')}{{ a | json | size }}`, /memory/],
  ['doubling with capture', `{% capture s %}xxxxxxxx{% endcapture %}${forEach(60, doubled())}`, /larger/],
  ['much output', forEach(100_000, 'y'.repeat(1000)), /larger/],
  ['a padded date', '{{ "now" | date: "%99999999d" }}', /memory/],
  [
    'a long format of a date',
    `{{ "now" | date: "${'%c'.repeat(101)}" }}`,
    /format of a date has at most 200/,
  ],
  [
    'a format of a date that grew',
    `{% assign f = "%c%c%c%c" %}${forEach(14, '{% assign f = f | append: f %}')}{{ "now" | time: f }}`,
    /format of a date has at most 200/,
  ],
  ['text in the place of each character', filled('replace: "", s'), /memory/],
  ['text between the entries of a list', filled('split: "" | join: s'), /memory/],
  ['deep nesting', '{% if 1 %}'.repeat(9_000) + '{% endif %}'.repeat(9_000), /nested too deeply/],
  [
    'deep nesting of autoescape',
    '{% autoescape off %}'.repeat(9_000) + '{% endautoescape %}'.repeat(9_000),
    /nested too deeply/,
  ],
  ['too many pieces', '{{a}}'.repeat(limits.pieces + 1), /tags and outputs/],
  ['too many lines', `{% liquid ${'liquid '.repeat(500)} %}`.repeat(50), /tags and outputs/],
  ['too many values', `{{ 1${'+1'.repeat(4_900)} }}`.repeat(30), /100000 values and filters/],
  ['too many filters', `{% cycle a${'|add:b'.repeat(1_500)} %}`.repeat(40), /100000 values and filters/],
  ['too long a source', 'x'.repeat(limits.sourceCharacters + 1), /longer than/],
  ['an endless expression', `{% if a${' and a'.repeat(90_000)} %}{% endif %}`, /too long/],
]

function forEach(count: number, body: string): string {
  return `{% for i in (1..${count}) %}${body}{% endfor %}`
}

function filled(filters: string): string {
  return `{% assign s = "x" %}${forEach(15, '{% assign s = s | append: s %}')}{{ s | ${filters} | size }}`
}

function nested(levels: number, filter = 'push'): string {
  const ten = `${` | ${filter}: a`.repeat(10)} %}`
  return `{% assign a = "xx" | split: "" %}${`{% assign a = "" | split: ""${ten}`.repeat(levels)}`
}

function doubled(): string {
  return '{% capture s %}{{ s | raw }}{{ s | raw }}{% endcapture %}'
}

describe('a template that runs away is stopped', () => {
  for (const [title, source, message] of runaways)
    test(title, { timeout: 20_000 }, async () => assert.match((await faultFrom(source)).message, message))
})

test('work over lists inside one output is stopped as well', { timeout: 20_000 }, async () => {
  const work = '{{ (1..400000) | where: "a", 1 | first }}{{ (1..400000) | sort | first }}'
  await compileTemplate(work, 'html')
    .render(scope)
    .catch((error) => assert.ok(isTemplateFault(error)))
})

test('openings of comments that nothing closes cost no more than text', { timeout: 20_000 }, async () => {
  for (const source of ['{#'.repeat(400_000), '{#\n'.repeat(300_000), '{##}'.repeat(9_000)])
    assert.equal(await compileTemplate(source, 'text').render(scope), source.includes('}') ? '' : source)
})

test('a large output of the fast path is refused too', async () => {
  const compiled = compileTemplate('{{ params.big }}{{ params.big }}', 'text')
  const big = 'x'.repeat(3_000_000)
  await assert.rejects(compiled.render({ params: { big } }), { name: 'TemplateFault', message: /larger/ })
})

const long = {
  text: '€'.repeat(100_000),
  marks: '&'.repeat(100_000),
  blanks: `x${' '.repeat(100_000)}`,
  open: '<a><'.repeat(25_000),
  digits: '1'.repeat(100_000),
  list: Array.from({ length: 50_000 }, () => 0),
  object: Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`k${n}`, n])),
}

describe('filters over long values are stopped', () => {
  const sources: Record<string, string> = {
    'one that lengthens, again and again': `{{ params.text${' | urlencode'.repeat(500)} }}`,
    'one that escapes, again and again': `{{ params.marks${' | force_escape'.repeat(500)} }}`,
    'one of the library': `{{ params.text${' | cgi_escape'.repeat(500)} }}`,
    'many that leave little': '{{ params.text | upper | truncatechars: 1 }}'.repeat(9_000),
    'many with a long argument': '{{ 1 | yesno: params.text | truncatechars: 1 }}'.repeat(9_000),
    'many that count': '{{ params.object | length }}'.repeat(9_000),
    'many loops over the names of an object': '{% for k, v in params.object %}{% break %}{% endfor %}'.repeat(
      5_000,
    ),
    'a long list, sorted again and again': '{% for k in params.object sorted limit:1 %}{% endfor %}'.repeat(
      5_000,
    ),
    'a list that is looked through again and again': '{% if 1 in params.list %}{% endif %}'.repeat(5_000),
    'long texts compared': '{% if params.text < params.text %}{% endif %}'.repeat(5_000),
    'long texts put together': '{{ params.text + params.text|truncatechars:1 }}'.repeat(9_000),
    'many that fill up': '{{ 1|center:5000000|truncatechars:1 }}'.repeat(9_000),
    'many that wrap': '{{ params.blanks|wordwrap:2|truncatechars:1 }}'.repeat(9_000),
    'many that shorten markup': '{{ params.open|truncatewords_html:9|truncatechars:1 }}'.repeat(9_000),
    'many that find links': '{{ params.blanks|urlize|truncatechars:1 }}{{ params.text|urlize|size }}'.repeat(
      9_000,
    ),
    'many that remove tags': '{{ params.open|removetags:"b"|truncatechars:1 }}'.repeat(9_000),
    'many that set commas': '{{ params.digits|intcomma|truncatechars:1 }}'.repeat(9_000),
    'many that print a list': '{{ params.object | truncatechars: 1 }}'.repeat(9_000),
  }
  for (const [title, source] of Object.entries(sources))
    test(title, { timeout: 20_000 }, async () => {
      for (const around of [source, `{% if 1 %}${source}{% endif %}`]) {
        const rendered = compileTemplate(around, 'html').render({ params: long })
        await assert.rejects(rendered, { name: 'TemplateFault', message: /too much text|too long|memory/ })
      }
    })
})

test('what a shop prints is not stopped, and one rendering does not count for the next', async () => {
  const items = Array.from({ length: 200 }, (_, n) => ({ name: `Item ${n}`, about: 'about it '.repeat(200) }))
  const each = '{{ item.name | upper }} {{ item.about | capfirst | truncatechars: 100 | escape }}'
  const compiled = compileTemplate(`{% for item in params.items %}${each}{% endfor %}`, 'html')
  for (let n = 0; n < 20; n++) assert.match(await compiled.render({ params: { items } }), /ITEM 199 About/)
  const plain = compileTemplate('{{ params.text | upper | truncatechars: 3 }}', 'html')
  for (let n = 0; n < 100; n++) assert.equal(await plain.render({ params: long }), '€€…')
})
