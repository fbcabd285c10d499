import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileTemplate, type TemplateScope } from './compile.ts'

const scope: TemplateScope = {
  params: {
    list: ['b', 'c', 'a'],
    pair: ['x', 'y'],
    numbers: [10, 9, '1', 2],
    object: { b: 1, a: '<i>', c: { d: 2 } },
    order: { items: [{ name: 'Tea' }] },
    rows: [
      ['x', 1],
      ['y', 2],
    ],
    items: { m: 1, n: 2 },
    markup: { '<b>': 1 },
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

const loop = (head: string, inner: string) => render(`{% for ${head} %}${inner} {% empty %}none{% endfor %}`)

test('a loop goes over the names of an object, with their values or without', async () => {
  assert.equal(await loop('k, v in params.object', '{{ k }}={{ v }}'), 'b=1 a=&lt;i&gt; c={&#34;d&#34;:2} ')
  assert.equal(await loop('k,v in params.object', '{{ v.d }}{{ forloop.counter }}'), '1 2 23 ')
  assert.equal(
    await loop('k in params.object', '{{ k }}{{ params.object[k] }}'),
    'b1 a&lt;i&gt; c{&#34;d&#34;:2} ',
  )
  assert.equal(await loop('k in params.object', '{% if k == "a" %}{{ k|upper }}{% endif %}'), ' A  ')
  assert.equal(await loop('k in params.markup', '{{ k }}{{ k|safe }}'), '&lt;b&gt;<b> ')
  assert.equal(await loop('pair in params.object', '{{ pair[0] }}{{ pair[1].d }}'), 'b a c2 ')
  assert.equal(await loop('k, v in params.absent', '{{ k }}'), 'none')
})

test('a loop goes over the items, keys and values of an object, unless it has fields of these names', async () => {
  assert.equal(await loop('k, v in params.object.items', '{{ k }}'), 'b a c ')
  assert.equal(await loop('k in params.object.keys', '{{ k }}'), 'b a c ')
  assert.equal(await loop('v in params.object.values', '{{ v }}'), '1 &lt;i&gt; {&#34;d&#34;:2} ')
  assert.equal(await loop('i in params.order.items', '{{ i.name }}'), 'Tea ')
  assert.equal(await loop('k, v in params.items', '{{ k }}{{ v }}'), 'm1 n2 ')
  assert.equal(await loop('i in params.list.values', '{{ i }}'), 'none')
})

test('a loop takes pairs apart', async () => {
  assert.equal(await loop('name, price in params.rows', '{{ name }}:{{ price }}'), 'x:1 y:2 ')
  assert.equal(await loop('a, b in params.pair', '{{ a }}[{{ b }}]'), 'x[] y[] ')
  const outer =
    '{% for k, v in params.items %}{% for a, b in params.rows %}{{ forloop.parentloop.counter }}{{ k }}{{ b }}'
  assert.equal(await render(`${outer} {% endfor %}{% endfor %}[{{ k }}]`), '1m1 1m2 2n1 2n2 []')
  const broken =
    '{% for k, v in params.object %}{% if k == "a" %}{% continue %}{% endif %}{{ k }}{% endfor %}'
  assert.equal(await render(broken), 'bc')
  assert.equal(
    await render('{% for k, v in params.object %}{{ k }}{% break %}{% endfor %}{{ params.list }}'),
    'bb, c, a',
  )
})

test('a loop is sorted, numbers as such, and reversed', async () => {
  assert.equal(await loop('i in params.list sorted', '{{ i }}'), 'a b c ')
  assert.equal(await loop('i in params.list reversed sorted', '{{ i }}'), 'c b a ')
  assert.equal(await loop('i in params.list sorted limit:2', '{{ i }}'), 'a b ')
  assert.equal(await loop('i in params.list|slice:"1:", sorted', '{{ i }}'), 'a c ')
  assert.equal(await loop('i in params.numbers sorted', '{{ i }}'), '1 2 9 10 ')
  assert.equal(await loop('k, v in params.object sorted', '{{ k }}'), 'a b c ')
  assert.equal(await loop('k, v in params.object reversed', '{{ k }}'), 'c a b ')
  assert.equal(await render('{{ params.list }}'), 'b, c, a')
})

test('a loop with something else behind its list is refused', () => {
  const message = 'Behind its list a loop takes sorted, reversed, limit, offset.'
  for (const head of ['i in params.list backwards', 'i in params.list + params.pair', 'i in params.list ~'])
    assert.throws(() => compileTemplate(`{% for ${head} %}{% endfor %}`, 'html'), {
      message,
      line: 1,
      column: 1,
    })
})

test('what a loop goes over is known to be read', () => {
  const { variables, needs } = compileTemplate(
    '{% for k, v in a.b.items %}{{ k }}{{ v.x }}{{ c }}{% endfor %}',
    'html',
  )
  assert.deepEqual(
    [variables, needs],
    [
      ['a.b', 'c'],
      [['a', 'b'], ['c']],
    ],
  )
})
