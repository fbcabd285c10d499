import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { compileTemplate, type TemplateScope } from './compile.ts'

const scope: TemplateScope = {
  params: {
    one: 1,
    two: 2,
    ten: '10',
    name: 'Ada',
    empty: '',
    none: null,
    yes: true,
    list: ['a', 'b', 3],
    object: { a: 1 },
    'order-id': 'dashed',
    day: '2026-03-05',
    price: 0.1,
    markup: '<b>',
  },
  contact: { BIRTHDAY: new Date('1990-07-14T00:00:00Z') },
}

const render = (source: string) => compileTemplate(source, 'html').render(scope)

const conditions: [string, boolean][] = [
  ['(params.one or params.none) and params.none', false],
  ['params.one or params.none and params.none', true],
  ['not (params.one and params.none)', true],
  ['!(params.one && params.none)', true],
  ['!params.none && params.one', true],
  ['!params.one || params.none', false],
  ['!!params.one', true],
  ['!params.none == params.yes', true],
  ['not params.one == 2', true],
  ['not not params.one', true],
  ['not params.one', false],
  ['params.one <> 2', true],
  ['params.one<>1', false],
  ['params.one==1&&params.two==2', true],
  ['params.one != 1||params.two!=2', false],
  ['"a" in params.list', true],
  ['3 in params.list', true],
  ['"z" not in params.list', true],
  ['"a" not  in params.list', false],
  ['not "a" in params.list', false],
  ['"a" in params.object', true],
  ['"b" in params.object', false],
  ['"toString" in params.object', false],
  ['"d" in params.name', true],
  ['params.none in params.name', false],
  ['params.name in params.none', false],
  ['params.none is None', true],
  ['params.one is not None', true],
  ['params.yes is True', true],
  ['params.one + 1 == params.two', true],
  ['params.two * (params.one + 2) == 6', true],
  ['params.one + params.two * 2 > 4', true],
  ['params.two % 2 == 0', true],
  ['params.list|length - 1 == 2', true],
  ['(params.name|lower) == "ada"', true],
  ['((params.one))', true],
  ['params.list|length > params.one + 1 and (params.name|upper == "ADA" or params.none)', true],
  // A text is equal to a text; what is larger is asked of numbers wherever both are.
  ['params.ten == 10', false],
  ['params.ten == "10"', true],
  ['params.ten > 9', true],
  ['params.ten > "9"', true],
  ['"10:30" < "9:15"', true],
  ['params.name > 3', false],
  ['params.name < 3', false],
  ['params.none < 3', false],
  ['params.none >= 0', false],
  ['params.absent < 3', false],
  ['params.empty < 3', false],
  ['params.list > 1', false],
  ['params.name < "Bea"', true],
  ['params.day >= "2026-03-01"', true],
  ['contact.BIRTHDAY < "2000-01-01"', true],
  ['contact.BIRTHDAY > "2000-01-01"', false],
  ['params.order-id == "dashed"', true],
]

describe('a condition holds', () => {
  for (const [condition, expected] of conditions)
    test(condition, async () => {
      assert.equal(await render(`{% if ${condition} %}yes{% else %}no{% endif %}`), expected ? 'yes' : 'no')
      assert.equal(
        await render(`{% if params.none %}{% elif ${condition} %}yes{% endif %}`),
        expected ? 'yes' : '',
      )
    })
})

const outputs: [string, string][] = [
  ['{{ params.one + params.two }}', '3'],
  ['{{ params.one+params.two }}', '3'],
  ['{{ params.two - 1 }} {{ params.two -1 }} {{ 5-2 }}', '1 1 3'],
  ['{{ 2 + 3 * 4 }} {{ (2 + 3) * 4 }} {{ 10 - 3 - 2 }}', '14 20 5'],
  ['{{ 7 / 2 }} {{ 7 % 4 }} {{ -7 % 4 }}', '3.5 3 -3'],
  ['{{ params.price + 0.2 }}', '0.3'],
  ['{{ -params.two }} {{ 3 * -params.two }} {{ -(1 + 1) }}', '-2 -6 -2'],
  ['{{ params.ten + 1 }} {{ params.ten * "2" }}', '11 20'],
  ['{{ params.name + " " + params.markup }}', 'Ada &lt;b&gt;'],
  ['{{ params.absent + 1 }} {{ 5 - params.none }}', '1 5'],
  ['[{{ params.absent + params.none }}][{{ params.one / 0 }}][{{ params.name * 2 }}]', '[][][]'],
  ['{{ params.two * 1.5|floatformat:2 }} {{ (params.two * 1.5)|floatformat:2 }}', '3 3.00'],
  ['{{ params.name|upper + "!" }}', 'ADA!'],
  ['{{ 1|add:(params.one + 1) }}', '3'],
  ['{{ params.one == 1 }} {{ params.one > 1 or params.none }}', 'true false'],
  ['{{ params.order-id }}', 'dashed'],
  ['{{ (params.markup|safe)|upper }}', '&lt;B&gt;'],
  ['{% assign n = params.one + 1 %}{{ n }}', '2'],
  ['{% for i in (1..3) %}{{ i * 2 }} {% endfor %}', '2 4 6 '],
  ['{% for i in (1..(params.one + 1)) %}{{ i }}{% endfor %}', '12'],
  ['{% cycle (params.one + 1) %}', '2'],
]

describe('what is calculated', () => {
  for (const [source, expected] of outputs)
    test(source, async () => assert.equal(await render(source), expected))
})

const faults: [string, string][] = [
  ['{% if params.a = 1 %}{% endif %}', 'Values are compared with "==".'],
  ['{% if (params.a %}{% endif %}', 'A bracket is not closed.'],
  ['{{ () }}', 'A bracket is not closed.'],
  ['{{ params.a) }}', 'An expression is malformed.'],
  ['{{ params.a + }}', 'An expression is malformed.'],
  ['{{ a b }}', 'An expression is malformed.'],
  ['{{ ! }}', 'A value is missing behind "!".'],
  ['{{ (a|nope) + 1 }}', 'Unknown filter "nope".'],
  ['{{ 1|add:(a|nope) }}', 'Unknown filter "nope".'],
  [`{{ ${'('.repeat(60)}1${')'.repeat(60)} }}`, 'Brackets are nested too deeply.'],
  [`{{ ${'!'.repeat(5_000)}1 }}`, 'Brackets are nested too deeply.'],
]

describe('a malformed expression is refused', () => {
  for (const [source, message] of faults)
    test(source.slice(0, 60), () =>
      assert.throws(() => compileTemplate(`\n${source}`, 'html'), {
        name: 'TemplateFault',
        message,
        line: 2,
        column: 1,
      }),
    )
})

test('what stands in brackets is known to be read', () => {
  const { variables } = compileTemplate(
    '{% if (params.a + params.b) > (params.c|default:params.d) %}{% endif %}',
    'html',
  )
  assert.deepEqual(variables, ['params.a', 'params.b', 'params.c', 'params.d'])
})
