import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { compileTemplate } from './compile.ts'
import { withoutEntities } from './entities.ts'

const scope = { params: { n: 5, name: 'Ada', q: 'a&quot;b' }, contact: {} }
const render = (source: string) => compileTemplate(source, 'html').render(scope)

const renderings: [string, string][] = [
  ['{{ contact.FIRSTNAME | default : &quot;you&quot; }}', 'you'],
  ['<a title="{{ contact.FIRSTNAME|default:&#39;you&#39; }}">', '<a title="you">'],
  ["{{ contact.FIRSTNAME|default:&#x22;Tom &amp; l'ami&#x22; }}", 'Tom &amp; l&#39;ami'],
  ['{{&nbsp;params.name&nbsp;|&#160;upper }}', 'ADA'],
  ['{% if params.n &gt; 3 &amp;&amp; params.n &lt;= 5 %}yes{% endif %}', 'yes'],
  ['{%&nbsp;if params.name == &quot;Ada&quot;&nbsp;%}yes{% endif&nbsp;%}', 'yes'],
  ['{{ contact.FIRSTNAME|default:"&quot;" }}', '&amp;quot;'],
  ['{% if params.q == "a&quot;b" %}yes{% endif %}', 'yes'],
  [
    '{% raw %}{{ x|default:&quot;y&quot; }}{% endraw %}&quot;{{ params.n &gt; 3 }}',
    '{{ x|default:&quot;y&quot; }}&quot;true',
  ],
  [
    '{%&nbsp;raw&nbsp;%}{{ x|default:&quot;y&quot; }}{%&nbsp;endraw&nbsp;%}{{ 1 &lt; 2 }}',
    '{{ x|default:&quot;y&quot; }}true',
  ],
  ['&nbsp;{ &quot; }{{ params.n }}&amp;', '&nbsp;{ &quot; }5&amp;'],
]

describe('a tag is read with its entities decoded', () => {
  for (const [source, expected] of renderings)
    test(source, async () => assert.equal(await render(source), expected))
})

test('an entity that makes no sense in a tag is refused as before', () => {
  for (const inside of [
    'default:&quot;ch&egrave;re&quot;',
    'default:&#125;',
    'default:&#0;',
    'default:&#xzz;',
    'a &b;',
  ])
    assert.throws(() => compileTemplate(`{{ x|${inside} }}`, 'html'), { name: 'TemplateFault' })
})

test('the time grows with the length only', () => {
  for (const each of ['{{', '{{&', '{% raw %}', '{{ &quot; ', '{%&amp;', '{{&&&&&&&&&&', '{&'])
    for (const source of [
      each.repeat(1_000_000 / each.length),
      `${each.repeat(900_000 / each.length)}}}%}`,
    ]) {
      const before = process.cpuUsage()
      withoutEntities(source)
      const { user, system } = process.cpuUsage(before)
      assert.ok(user + system < 3_000_000, `${each} took ${(user + system) / 1000} ms`)
    }
})
