import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { compileTemplate, missingVariables, type TemplateScope, templateCache } from './compile.ts'
import type { Kind } from './engine.ts'

const scope: TemplateScope = {
  params: {
    x: '<b>&',
    name: 'ada LOVELACE',
    items: [{ name: 'Tea' }, { name: 'Salt & pepper' }],
    list: ['a', 'b'],
    price: 3.456,
    zero: 0,
    none: null,
    nothing: [],
    order: { id: 7, paid: true },
    day: '2026-03-05T14:07:09Z',
    long: 'a longer piece of text',
    'odd key': 'odd',
  },
  contact: { FIRSTNAME: '', EMAIL: 'ada@example.com' },
  event: { amount: 12 },
  unsubscribe_url: 'https://mail.example/u/abc?x=1&y=2',
  preferences_url: 'https://mail.example/p/abc',
  mirror: 'https://mail.example/m/abc',
}

const render = (source: string, kind: Kind = 'html') => compileTemplate(source, kind).render(scope)

const renderings: [string, string][] = [
  ['{{ params.x }}', '&lt;b&gt;&amp;'],
  ['{{params.items.0.name}}', 'Tea'],
  ['{{ params.items[1].name }}', 'Salt &amp; pepper'],
  ['{{ params["odd key"] }}', 'odd'],
  ['{{ contact.FIRSTNAME|default:"there" }}', 'there'],
  ["{{ contact.FIRSTNAME | default : 'you' }}", 'you'],
  ['{{ params.zero|default:"none" }}', 'none'],
  ['{{ params.nothing|default:"empty" }}', 'empty'],
  ['{{ params.absent }}[{{ params.absent.deeper }}]', '[]'],
  ['{{ params.none }}', ''],
  ['{{ contact.firstname }}', ''],
  ['{{ event.amount }}', '12'],
  ['{{ params.order }}', '{&#34;id&#34;:7,&#34;paid&#34;:true}'],
  ['{{ params.list }}', 'a, b'],
  ['{{ params.name|upper }} {{ params.name|lower }}', 'ADA LOVELACE ada lovelace'],
  ['{{ "A B/C?é€😀"|urlencode }}', 'A%20B/C%3F%C3%A9%E2%82%AC%F0%9F%98%80'],
  ['{{ "a/b c"|urlencode:"" }}', 'a%2Fb%20c'],
  ['{{ "(it\'s) !*"|urlencode }}', '%28it%27s%29%20%21%2A'],
  ['{{ params.name|title }} {{ params.name|capfirst }}', 'Ada Lovelace Ada LOVELACE'],
  ['{{ params.name|capitalize }}', 'Ada lovelace'],
  ['{{ "l\'été à saint-malo"|title }}', 'L&#39;été À Saint-Malo'],
  ['{{ params.long|truncatechars:9 }}', 'a longer…'],
  ['{{ "short"|truncatechars:9 }}', 'short'],
  ['{{ params.price|floatformat:2 }} {{ params.price|floatformat }}', '3.46 3.5'],
  ['{{ 34|floatformat }} {{ 34|floatformat:2 }} {{ 1.005|floatformat:2 }}', '34 34.00 1.01'],
  ['{{ -2.5|floatformat:0 }} {{ "x"|floatformat }}', '-3 '],
  ['{{ params.list|join:", " }}', 'a, b'],
  ['{{ params.list|length }} {{ params.list|size }} {{ params.list.size }}', '2 2 2'],
  ['{{ params.list|first }}{{ params.list|last }}', 'ab'],
  ['{{ params.x|escape }} {{ params.x|safe }}', '&lt;b&gt;&amp; <b>&'],
  ['{{ params.order.paid|yesno:"paid,open" }}', 'paid'],
  ['{{ params.list|length }} item{{ params.list|length|pluralize }}', '2 items'],
  ['{{ 4|add:2 }} {{ "a b"|cut:" " }}', '6 ab'],
  ['{{ params.price | times: 2 | round: 1 }}', '6.9'],
  ['{{ "one\ntwo <i>"|linebreaksbr }}', 'one<br />\ntwo &lt;i&gt;'],
  ['{{ params.day|date:"%d/%m/%Y" }}', '05/03/2026'],
  ['{{ params.day|date:"d/m/Y H:i" }}', '05/03/2026 14:07'],
  ['{{ params.day|date:"DD/MM/YYYY" }}', '05/03/2026'],
  ['{{ params.day|date:"2 January 2006 15:04" }}', '5 March 2026 14:07'],
  ['{{ params.day|date:"l j F Y" }}', 'Thursday 5 March 2026'],
  ['{{ params.day|date:"H:i", "Europe/Paris" }}', '15:07'],
  ['{{ params.absent|date:"Y" }}', ''],
  ['{{ params.day|date:"W" }} {{ "2027-01-01"|date:"W/Y" }} {{ "2026-12-28"|date:"W" }}', '10 53/2027 53'],
  ['{{ "2024-12-30"|date:"%V" }} {{ "soon"|date:"W" }}', '1 soon'],
  ['{{ unsubscribe }}', 'https://mail.example/u/abc?x=1&amp;y=2'],
  ['{{ unsubscribe_url }}', 'https://mail.example/u/abc?x=1&amp;y=2'],
  ['{{ update_profile }} {{ preferences_url }}', 'https://mail.example/p/abc https://mail.example/p/abc'],
  ['{{ mirror }}', 'https://mail.example/m/abc'],
  ['%FNAME% {FNAME} [MIRROR] 100 % }}', '%FNAME% {FNAME} [MIRROR] 100 % }}'],
  ['a{% comment %} {{ params.x }} {% endcomment %}b', 'ab'],
  ['{% raw %}{{ params.x }}{% endraw %}', '{{ params.x }}'],
  ['a {{- params.zero -}} b', 'a0b'],
  ['{{ params.name|slice:":3" }} {{ params.name|slice:"1:3" }}', 'ada da'],
  ['{{ params.name|slice:"-8:" }} {{ params.name|slice:":-9" }}', 'LOVELACE ada'],
  ['{{ params.name|slice:"3" }} {{ params.name|slice:":" }}', 'ada ada LOVELACE'],
  ['{{ "abc"|slice:"::-1" }} {{ "abcde"|slice:"::2" }} {{ "abc"|slice:"5:-9" }}', 'cba ace '],
  ['{{ "😀b"|slice:":1" }} {{ "abc"|slice:"x:y" }} {{ "abc"|slice:"::0" }}', '😀 abc abc'],
  ['{{ "abcde"|slice:"-9:9" }} {{ "abcde"|slice:"9:-9:-2" }}', 'abcde eca'],
  ['{{ params.list|slice:":1"|join:"," }} {{ params.list|slice:"-1:"|join:"," }}', 'a b'],
  ['{{ params.absent|slice:":3" }}', ''],
  ['{{ params.name|slice: 4, 4 }} {{ params.name | slice: 0 }}', 'LOVE a'],
  ['a{# note #}b {# {{ params.x }} {% if %} #}{# #}{##}c', 'ab c'],
  ['a{#x{color:red}\n#} b{# c', 'a{#x{color:red}\n#} b{# c'],
  ['{% raw %}{# x #}{% endraw %}{{ "{# y #}" }}', '{# x #}{# y #}'],
  ['{#}{{ params.zero }}', '{#}0'],
  ['{% comment %}{{ x | }}{# #}{% endcomment %}{# é #}{{ "a|" }}', 'a|'],
]

describe('a template renders', () => {
  for (const [source, expected] of renderings)
    test(source, async () => assert.equal(await render(source), expected))
})

const conditions: [string, boolean][] = [
  ['params.order.paid', true],
  ['contact.FIRSTNAME', false],
  ['params.zero', false],
  ['params.nothing', false],
  ['params.absent', false],
  ['not params.absent', true],
  ['params.order.id == 7', true],
  ['params.order.id != 7', false],
  ['params.price > 3 and params.price < 4', true],
  ['params.zero and params.zero or params.price', true],
  ['params.price or params.zero and params.zero', true],
  ['not params.zero and params.price', true],
  ['not params.price or params.zero', false],
  ['"a" in params.list', true],
  ['"z" not in params.list', true],
  ['params.list contains "b"', true],
  ['params.absent == None', true],
  ['params.order.paid == True', true],
  ['params.none != nil', false],
  ['params.items|length > 1', true],
  ['3 < params.list|length', false],
  ['params.name|lower == "ada lovelace" and params.list|length >= 2', true],
  ['params.absent|default:params.order.id == 7 or params.zero', true],
  ['params.name|cut:" and "|cut:" in "|upper=="ADA LOVELACE"', true],
  ['"ada" in params.name|lower', true],
  ['params.list|first not in params.name|lower', false],
  ['not params.list|length == 2', false],
  ['params.price | round: 1 == 3.5', true],
]

describe('a condition holds', () => {
  for (const [condition, expected] of conditions)
    test(condition, async () => {
      assert.equal(await render(`{% if ${condition} %}yes{% else %}no{% endif %}`), expected ? 'yes' : 'no')
      assert.equal(await render(`{% unless ${condition} %}yes{% endunless %}`), expected ? '' : 'yes')
    })
})

test('elif and elsif both go on with a condition', async () => {
  const source = (word: string) => `{% if params.zero %}1{% ${word} params.price %}2{% else %}3{% endif %}`
  assert.equal(await render(source('elif')), '2')
  assert.equal(await render(source('elsif')), '2')
})

test('a loop counts in the words of both languages', async () => {
  const counts = '{{ forloop.Counter }}{{ forloop.counter }}{{ forloop.counter0 }}{{ forloop.index }}'
  assert.equal(
    await render(
      `{% for i in params.items %}${counts}{{ i.name }}{% if forloop.last %}.{% endif %}{% endfor %}`,
    ),
    '1101Tea2212Salt &amp; pepper.',
  )
  assert.equal(await render('{% for i in params.nothing %}x{% empty %}none{% endfor %}'), 'none')
})

test('a loop goes through what the filters leave of a list', async () => {
  const loop = (list: string) => render(`{% for i in ${list} %}{{ i }}{% empty %}none{% endfor %}`)
  assert.equal(await loop('params.list|slice:":1"'), 'a')
  assert.equal(await loop('params.list | reverse'), 'ba')
  assert.equal(await loop('params.name|lower|split:" " reversed'), 'lovelaceada')
  assert.equal(await loop('params.absent|default:params.list limit:1'), 'a')
  assert.equal(await loop('params.list|slice:"5:"'), 'none')
  const { variables, needs } = compileTemplate('{% for i in a.b|default:c.d %}{% endfor %}', 'html')
  assert.deepEqual([variables, needs], [['a.b', 'c.d'], []])
})

test('a loop knows the loop around it', async () => {
  const inner =
    '{% for j in params.list %}{{ forloop.parentloop.counter }}{{ forloop.counter }}{{ i.name }} {% endfor %}'
  assert.equal(
    await render(`{% for i in params.items limit:1 %}${inner}{% endfor %}[{{ forloop.counter }}]`),
    '11Tea 12Tea []',
  )
  assert.equal(await render('{% for i in params.list %}{{ forloop.parentloop.counter }}{% endfor %}'), '')
})

test('a cycle takes its values in turn, with commas between them or none', async () => {
  const striped = (values: string) => render(`{% for i in (1..3) %}{% cycle ${values} %} {% endfor %}`)
  assert.equal(await striped('"odd" "even"'), 'odd even odd ')
  assert.equal(await striped('"odd", params.x'), 'odd &lt;b&gt;&amp; odd ')
  assert.throws(() => compileTemplate('{% cycle "a" "b" as rows %}', 'html'), /cannot be given a name/)
})

test('an unknown filter is refused before anything is rendered, wherever it stands', () => {
  const faults = [
    '{% if a|nope > 1 %}{% endif %}',
    '{% for i in a|nope %}{% endfor %}',
    '{% cycle a|nope, b %}',
  ]
  for (const source of faults)
    assert.throws(() => compileTemplate(source, 'html'), {
      name: 'TemplateFault',
      message: 'Unknown filter "nope".',
    })
})

test('what is captured is escaped once, and as text not at all', async () => {
  const once = '&lt;b&gt;&amp;'
  const captured = '{% capture c %} <i>{{ params.x }}</i> {% endcapture %}'
  assert.equal(await render(`${captured}{{ c }}{{ c|strip }}`), ` <i>${once}</i> <i>${once}</i>`)
  assert.equal(await render(`${captured}{{ c|strip }}`, 'text'), '<i><b>&</i>')
  assert.equal(await render(`${captured}{% assign d = c|default:"x" %}{{ d }}`), ` <i>${once}</i> `)
  const added =
    '{% for i in params.list %}{% capture c %}{{ c }}{{ params.x }}{% endcapture %}{% endfor %}{{ c }}'
  assert.equal(await render(added), once + once)
  assert.equal(await render(`${captured}{% if c contains "&amp;" %}{{ c.size }}{% endif %}`), '23')
  assert.equal(
    await render(`${captured}{{ c|append:"<" }}`),
    ' &lt;i&gt;&amp;lt;b&amp;gt;&amp;amp;&lt;/i&gt; &lt;',
  )
  const off =
    '{% autoescape off %}{% capture c %}{{ params.x }}{% endcapture %}{{ c }}{% endautoescape %}{{ c }}'
  assert.equal(await render(off), `<b>&${once}`)
  assert.equal(await render('{% capture key %}x{% endcapture %}{{ params[key] }}'), once)
})

test('autoescape switches the escaping for what stands in it, and no further', async () => {
  const source = `{{ params.x }}{% autoescape off %}{{ params.x }}{% if params.price %}{{ params.x|upper }}{% endif %}
{%- autoescape on %}{{ params.x }}{% for i in params.list %}{% autoescape false %}{{ params.x }}{% endautoescape %}
{%- endfor %}{% endautoescape %}{{ params.x }}{{ params.x|escape }}{% endautoescape %}{{ params.x }}`
  const escaped = '&lt;b&gt;&amp;'
  assert.equal(await render(source), `${escaped}<b>&<B>&${escaped}<b>&<b>&<b>&${escaped}${escaped}`)
  assert.equal(await render('{% autoescape True %}{{ params.x }}{% endautoescape %}'), escaped)
  assert.equal(
    await render('{% autoescape off %}{{ params.order }}{% endautoescape %}'),
    '{"id":7,"paid":true}',
  )
  assert.equal(await render('{% autoescape on %}{{ params.x }}{% endautoescape %}', 'text'), '<b>&')
  const { variables, needs } = compileTemplate(
    '{% autoescape off %}{{ params.a }}{% endautoescape %}',
    'html',
  )
  assert.deepEqual([variables, needs], [['params.a'], [['params', 'a']]])
})

test('text is not escaped', async () => {
  assert.equal(
    await render('{{ params.x }} {{ unsubscribe }}', 'text'),
    '<b>& https://mail.example/u/abc?x=1&y=2',
  )
  assert.equal(await render('{% if 1 %}{{ params.x }}{% endif %}', 'text'), '<b>&')
})

test('a date of the database prints in one form on every machine', async () => {
  const compiled = compileTemplate('{{ contact.BIRTHDAY }} {{ contact.BIRTHDAY|date:"d/m/Y" }}', 'text')
  const contact = { BIRTHDAY: new Date('1990-07-14T00:00:00Z') }
  assert.equal(await compiled.render({ contact }), '1990-07-14T00:00:00.000Z 14/07/1990')
})

test('the variables that a template reads are known without rendering', () => {
  const { variables } = compileTemplate(
    `{{ params.a }}{{ params.items.0.name | default: contact.B }}{% for i in params.list %}{{ i.x }}{{ forloop.index }}
     {% endfor %}{% assign y = params.z %}{{ y }}{% if event.t == contact.U %}{{ params[contact.K] }}{% endif %}`,
    'html',
  )
  assert.deepEqual(variables.sort(), [
    'contact.B',
    'contact.K',
    'contact.U',
    'event.t',
    'params',
    'params.a',
    'params.items.0.name',
    'params.list',
    'params.z',
  ])
})

test('a variable is missing unless it has a default or stands in a condition', () => {
  const compiled = compileTemplate(
    `{{ params.here }}{{ params.gone }}{{ params.none }}{{ contact.CITY | default: "x" }}{{ unsubscribe }}{{ size }}
     {% if params.maybe %}{{ params.maybe }}{{ params.other }}{% endif %}
     {% for i in params.rows %}{{ i.x }}{% endfor %}`,
    'html',
  )
  assert.deepEqual(missingVariables(compiled, { params: { here: '', none: null } }), [
    'params.gone',
    'params.none',
    'unsubscribe',
    'size',
    'params.rows',
  ])
  const full = { here: 1, gone: 1, none: 1, rows: [] }
  assert.deepEqual(missingVariables(compiled, { params: full, unsubscribe_url: 'u', size: 1 }), [])
})

test('a cached template is compiled once for each kind and forgotten when others were used since', () => {
  const compile = templateCache({ max: 2 })
  const first = compile('{{ params.a }}', 'html')
  assert.equal(compile('{{ params.a }}', 'html'), first)
  const text = compile('{{ params.a }}', 'text')
  assert.notEqual(text, first)
  assert.equal(compile('{{ params.a }}', 'html'), first)
  compile('{{ params.b }}', 'html')
  assert.notEqual(compile('{{ params.a }}', 'text'), text)
})
