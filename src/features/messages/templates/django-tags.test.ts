import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { compileTemplate, missingVariables, type TemplateScope } from './compile.ts'

const scope: TemplateScope = {
  params: { x: '<b>', y: 'y', empty: '', list: ['a', 'a', 'b'], n: 2, evil: '<i>' },
  time_now: new Date('2026-03-05T14:07:09Z'),
}

const render = (source: string, kind: 'html' | 'text' = 'html') => compileTemplate(source, kind).render(scope)

const renderings: [string, string][] = [
  ['{% with a=params.x %}{{ a }}{% endwith %}[{{ a }}]', '&lt;b&gt;[]'],
  ['{% with a=params.x|upper b=params.n + 1 c="z" %}{{ a }}{{ b }}{{ c }}{% endwith %}', '&lt;B&gt;3z'],
  ['{% with params.list|length as n %}{{ n }}{% endwith %}', '3'],
  ['{% with a=1 %}{% with a=2 %}{{ a }}{% endwith %}{{ a }}{% endwith %}', '21'],
  ['{% with a=params %}{{ a.y }}{% for i in a.list %}{{ i }}{% endfor %}{% endwith %}', 'yaab'],
  ['{% with a=params.x|safe %}{{ a }}{{ params.x }}{% endwith %}', '<b>&lt;b&gt;'],
  ['{% with a=params.x|safe|add:params.evil %}{{ a }}{% endwith %}', '<b>&lt;i&gt;'],
  ['{% with a=params.list|safe %}{{ a|length }}{% endwith %}', '3'],
  ['{% for i in params.list %}{% with a=i %}{{ forloop.counter }}{{ a }}{% endwith %}{% endfor %}', '1a2a3b'],
  ['{% for i in params.list %}{% with a=i %}{{ a }}{% break %}{% endwith %}{% endfor %}{{ a }}', 'a'],
  ['{% firstof params.empty params.none params.x "z" %}', '&lt;b&gt;'],
  ['{% firstof params.empty "<z>" %}[{% firstof params.empty params.none %}]', '&lt;z&gt;[]'],
  ['{% firstof params.empty params.y|upper %}', 'Y'],
  ['{% capture a %}<p>{{ params.x }}{% endcapture %}{% firstof params.empty a %}', '<p>&lt;b&gt;'],
  ['{% with a=params.x|safe %}{% echo a %}{% echo a|upper %}{% endwith %}{% echo %}', '<b>&lt;B&gt;'],
  ['{% now "d/m/Y" %} {% now "15:04" %}', '05/03/2026 14:07'],
  ['{% ifequal params.y "y" %}yes{% else %}no{% endifequal %}', 'yes'],
  ['{% ifnotequal params.list|length 2 %}yes{% endifnotequal %}', 'yes'],
  ['{% liquid if not params.empty\n echo params.x\n endif %}', '&lt;b&gt;'],
  [
    '{% liquid\nset a = (params.n + 1) * 2\nif !a\necho 1\nelif a && params.y|upper == "Y"\necho a\nendif %}',
    '6',
  ],
  ['{% liquid for i, j in params.list sorted\nfirstof params.empty i|upper\nendfor\nnow "Y" %}', 'AAB2026'],
  ['{% for i in params.list %}{% if i != before %}{{ i }}{% set before = i %}{% endif %}{% endfor %}', 'ab'],
]

describe('a tag of the provider’s language renders', () => {
  for (const [source, expected] of renderings)
    test(source, async () => assert.equal(await render(source), expected))
})

const faults: [string, string][] = [
  ['{% with %}{% endwith %}', 'The tag with is followed by a value.'],
  ['{% with a %}{% endwith %}', 'The tag with is followed by a name, "=" and a value.'],
  ['{% with a=|upper %}{% endwith %}', 'A value is missing or malformed near "|upper".'],
  ['{% with a=1 %}', '{% with a=1 %} is not closed.'],
  ['{% with a=b|nope %}{% endwith %}', 'Unknown filter "nope".'],
  ['{% firstof %}', 'The tag firstof is followed by a value.'],
  ['{% now %}', 'The tag now is followed by a value.'],
  ['{% now a b %}', 'The tag now is followed by the format of a date.'],
  ['{% firstof a + b %}', 'The tag firstof is followed by values.'],
  ['{% liquid echo 1\nfirstof %}', 'The tag firstof is followed by a value.'],
  ['{% ifequal a %}{% endifequal %}', 'The tags ifequal and ifnotequal are followed by two values.'],
]

describe('a malformed tag is refused', () => {
  for (const [source, message] of faults)
    test(source, () =>
      assert.throws(() => compileTemplate(source, 'html'), { name: 'TemplateFault', message, line: 1 }),
    )
})

test('text is not escaped', async () => {
  assert.equal(
    await render('{% with a=params.x|safe %}{{ a }}{% endwith %}{% firstof params.x %}', 'text'),
    '<b><b>',
  )
})

test('what these tags read is known', () => {
  const source =
    '{% with a=params.a %}{{ a.b }}{{ c }}{% endwith %}{% firstof params.d params.e %}{% now "Y" %}'
  const compiled = compileTemplate(source, 'html')
  assert.deepEqual(compiled.variables, ['params.a', 'c', 'params.d', 'params.e', 'time_now'])
  assert.deepEqual(missingVariables(compiled, { time_now: new Date(0) }), ['params.a', 'c'])
})
