import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileTemplate, type TemplateScope } from './compile.ts'

const scope: TemplateScope = {
  params: {
    list: ['b', 'c', 'a'],
    pair: ['x', 'y'],
  },
}

const render = (source: string) => compileTemplate(source, 'html').render(scope)

const inLoop = (inner: string) => render(`{% for i in params.list %}${inner} {% endfor %}`)

test('what a loop knows of itself is written with a capital or without', async () => {
  for (const [name, values] of Object.entries({
    counter: '1 2 3 ',
    counter0: '0 1 2 ',
    revcounter: '3 2 1 ',
    revcounter0: '2 1 0 ',
    first: 'true false false ',
    last: 'false false true ',
    index: '1 2 3 ',
    length: '3 3 3 ',
  }))
    for (const spelt of [name, name[0]?.toUpperCase() + name.slice(1)])
      assert.equal(await inLoop(`{{ forloop.${spelt} }}`), values, spelt)
  assert.equal(
    await inLoop('{% if forloop.First %}<{% elif forloop.Last %}>{% else %}-{% endif %}'),
    '< - > ',
  )
  const outer = '{% for j in params.pair %}{{ forloop.Parentloop.Counter }}{{ j }}{% endfor %}'
  assert.equal(await inLoop(outer), '1x1y 2x2y 3x3y ')
  assert.equal(await inLoop('{{ forloop.ToString }}{{ forloop.Constructor }}{{ forloop.Next }}'), '   ')
})
