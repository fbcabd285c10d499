import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { compileTemplate, type TemplateScope } from './compile.ts'

const scope: TemplateScope = {
  params: {
    text: 'Joel is a slug',
    lines: 'one\ntwo <i>\n\nthree',
    html: '<p>Joel <b>is &amp; was</b><br>a slug</p>',
    list: ['a', 'b'],
    n: 3,
    big: 1234567.891,
    phone: '+33 612345678',
    quoted: `it's "x" \\`,
    url: 'See https://example.com/a?b=1&c=2, www.example.com. or (ada@example.com)! javascript:alert(1) <b>',
    none: null,
    face: '😀a',
  },
}

const render = (source: string) => compileTemplate(source, 'html').render(scope)

const link = (href: string, text: string) => `<a href="${href}" rel="nofollow">${text}</a>`

const renderings: [string, string][] = [
  ['{{ params.quoted|addslashes|safe }}', `it\\'s \\"x\\" \\\\`],
  [
    '[{{ "ab"|center:5 }}][{{ "ab"|ljust:4 }}][{{ "ab"|rjust:4 }}][{{ "abc"|center:2 }}]',
    '[  ab ][ab  ][  ab][abc]',
  ],
  ['{{ params.text|wordwrap:5 }}', 'Joel\nis a\nslug'],
  ['{{ params.lines|linenumbers }}', '1. one\n2. two &lt;i&gt;\n3. \n4. three'],
  ['{{ params.text|truncatewords:2 }}|{{ params.text|truncatewords:4 }}', 'Joel is …|Joel is a slug'],
  ['{{ params.text|truncatewords:2,"..." }}', 'Joel is...'],
  ['{{ "800-COLLECT"|phone2numeric }}', '800-2655328'],
  ['{% for c in "abé"|make_list %}{{ c }}.{% endfor %}', 'a.b.é.'],
  [
    '{{ params.n|stringformat:"%03d" }} {{ params.n|stringformat:"04.1f" }} {{ params.n|stringformat:"+d" }}',
    '003 03.0 +3',
  ],
  [
    '{{ "ab"|stringformat:"%5s" }} {{ 255|stringformat:"x" }} {{ 1.5|stringformat:"%.2f €" }}',
    '   ab ff 1.50 €',
  ],
  ['{{ params.n|stringformat:"?" }} {{ "x"|stringformat:"d" }} {{ -3|stringformat:"%05d" }}', '3  -0003'],
  ['{{ params.big|intcomma }} {{ 123|intcomma }} {{ "-1000"|intcomma }}', '1,234,567.891 123 -1,000'],
  ['{{ params.quoted|escapejs }}', 'it\\u0027s \\u0022x\\u0022 \\u005C'],
  ['{{ "é /?a=1&b"|iriencode }}', '%C3%A9%20/?a=1&amp;b'],
  ['{{ "3.7"|float }} {{ "3.7"|integer }} {{ "x"|float }} {{ params.none|integer }}', '3.7 3 0 0'],
  ['{% if params.n|divisibleby:3 %}yes{% endif %}{% if 4|divisibleby:3 %}no{% endif %}', 'yes'],
  ['{{ 1234|get_digit:2 }} {{ 12|get_digit:9 }} {{ "ab"|get_digit:1 }}', '3 0 ab'],
  ['{{ params.list|length_is:2 }} {{ "abc"|length_is:"2" }}', 'true false'],
  ['{% if params.list|random in params.list %}yes{% endif %}', 'yes'],
  ['{{ params.list|dictsort:"x"|length }}', '2'],
  ['{{ "abc"|first }}{{ "abc"|last }} {{ "a,b"|split:","|join:"+" }}', 'ac a+b'],
  // No character is cut in half.
  ['{{ params.face|first }}{{ "a😀"|last }}{{ params.none|first }}{{ params.list|last }}', '😀😀b'],
  ['{{ params.face[0] }}.{{ params.face[1] }}.{{ params.face[2] }}.{{ params.face[3] }}', '😀..a.'],
  ['{{ params.face|split:""|join:"+" }} {{ params.face|stringformat:".1s" }}', '😀+a 😀'],
  // Filters that make markup.
  ['{{ params.lines|linebreaks }}', '<p>one<br />two &lt;i&gt;</p>\n\n<p>three</p>'],
  ['{{ params.lines|safe|linebreaks }}', '<p>one<br />two <i></p>\n\n<p>three</p>'],
  ['{{ params.lines|safe|linebreaksbr }}', 'one<br />\ntwo <i><br />\n<br />\nthree'],
  [
    '{{ params.lines|linebreaks|upper }}',
    '&lt;P&gt;ONE&lt;BR /&gt;TWO &amp;LT;I&amp;GT;&lt;/P&gt;\n\n&lt;P&gt;THREE&lt;/P&gt;',
  ],
  [
    '{{ params.url|urlize }}',
    `See ${link('https://example.com/a?b=1&amp;c=2', 'https://example.com/a?b=1&amp;c=2')}, ` +
      `${link('http://www.example.com', 'www.example.com')}. or ` +
      `(${link('mailto:ada@example.com', 'ada@example.com')})! javascript:alert(1) &lt;b&gt;`,
  ],
  ['{{ "www.example.com"|urlizetrunc:6 }}', link('http://www.example.com', 'www.e…')],
  ['{{ params.html|removetags:"b,p"|safe }}', 'Joel is &amp; was<br>a slug'],
  ['{{ "<b>x"|removetags:"i" }}', '&lt;b&gt;x'],
  ['{{ params.html|truncatewords_html:2|safe }}', '<p>Joel <b>is …</b></p>'],
  ['{{ params.html|truncatewords_html:6|safe }}', '<p>Joel <b>is &amp; was</b><br>a slug</p>'],
  ['{{ params.html|truncatechars_html:9|safe }}', '<p>Joel <b>is…</b></p>'],
  ['{{ "<b>abc</b>"|truncatechars_html:3|safe }}', '<b>abc</b>'],
  ['{{ "<b>abc</b>"|truncatechars_html:2 }}', '&lt;b&gt;a…&lt;/b&gt;'],
  ['{{ params.html|striptags }}', 'Joel is &amp;amp; wasa slug'],
]

describe('a filter of the provider’s language renders', () => {
  for (const [source, expected] of renderings)
    test(source, async () => {
      assert.equal(await render(source), expected)
      assert.equal(await render(`{% if 1 %}${source}{% endif %}`), expected)
    })
})

const published = `
  add addslashes capfirst center cut date default default_if_none dictsort divisibleby escape escapejs
  first float floatformat force_escape get_digit integer iriencode join last length length_is
  linebreaks linebreaksbr linenumbers ljust lower make_list phone2numeric pluralize random removetags
  rjust safe safeseq slice split stringformat striptags time title truncatechars truncatechars_html
  truncatewords truncatewords_html upper urlencode urlize urlizetrunc wordcount wordwrap yesno`
  .trim()
  .split(/\s+/)

test('each of the published filters is there, and takes what is no value for it', async () => {
  for (const name of published)
    for (const value of ['params.none', 'params.list', 'params', '""', '-1.5', 'true'])
      for (const argument of ['', ':""', ':params.none', ':-1', ':params.list'])
        assert.equal(
          typeof (await render(`{{ ${value}|${name}${argument} }}`)),
          'string',
          `${value}|${name}${argument}`,
        )
})

const compare = 'Compare with what a variable keeps: {% if x != before %}…{% set before = x %}{% endif %}.'

const refused: [string, string][] = [
  [
    '{{ a|timesince }}',
    'Unknown filter "timesince". Print the date with "date", or give the words as a variable.',
  ],
  [
    '{% if a|dictsortreversed:"x" %}{% endif %}',
    'Unknown filter "dictsortreversed". Write "dictsort" and "reverse".',
  ],
  ['{% spaceless %}{% endspaceless %}', 'Unknown tag "spaceless". Leave it out: white space does no harm.'],
  ['{% extends "x" %}', 'Unknown tag "extends". A template is one text: put the other one into it.'],
  ['{% ifchanged %}{% endifchanged %}', `Unknown tag "ifchanged". ${compare}`],
  ['{% verbatim %}{% endverbatim %}', 'Unknown tag "verbatim". Write {% raw %}…{% endraw %}.'],
]

describe('what is refused says what to write instead', () => {
  for (const [source, message] of refused)
    test(source, () => assert.throws(() => compileTemplate(source, 'html'), { message, line: 1, column: 1 }))
})

test('what is set is a variable from there on', async () => {
  assert.equal(await render('{% set x = params.n + 1 %}{{ x }}'), '4')
})
