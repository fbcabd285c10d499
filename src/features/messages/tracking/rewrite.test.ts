import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { linksOf, rewriteHtml } from './rewrite.ts'

const click = (url: string) => `https://t.example/c/${Buffer.from(url).toString('base64url')}`
const tracked = (html: string) => rewriteHtml(html, { click })
const token = (url: string) => click(url)

const url = 'https://shop.example/a?b=1&c=2'
const written = 'https://shop.example/a?b=1&amp;c=2'

const rewritten: [title: string, before: string, after: string][] = [
  ['double quotes', `<a href="${written}">x</a>`, `<a href="${token(url)}">x</a>`],
  ['single quotes', `<a href='${written}'>x</a>`, `<a href='${token(url)}'>x</a>`],
  ['no quotes', '<a href=https://shop.example/>x</a>', `<a href="${token('https://shop.example/')}">x</a>`],
  ['capitals', `<A HREF="${written}">x</A>`, `<A HREF="${token(url)}">x</A>`],
  ['capitals in the address', '<a href="HTTP://X.example">', `<a href="${token('HTTP://X.example')}">`],
  [
    'line breaks in the tag',
    `<a\n  class="b"\n  href\n=\n"${written}"\n>x</a>`,
    `<a\n  class="b"\n  href\n=\n"${token(url)}"\n>x</a>`,
  ],
  [
    'line breaks in the address',
    '<a href=" https://x.example/\n a\tb ">',
    `<a href="${token('https://x.example/ ab')}">`,
  ],
  ['a bare ampersand', `<a href="${url}">x</a>`, `<a href="${token(url)}">x</a>`],
  [
    'numeric entities',
    '<a href="https&#58;//x.example/&#x26;">',
    `<a href="${token('https://x.example/&')}">`,
  ],
  [
    'numeric entities that are left open',
    '<a href="https&#58//x.example/?a&#x26g=1&#38">',
    `<a href="${token('https://x.example/?a&g=1&')}">`,
  ],
  [
    'quotes in the address',
    `<a href='https://x.example/"b"'>`,
    `<a href='${token('https://x.example/"b"')}'>`,
  ],
  ['an area of a map', `<area shape=rect href="${written}"/>`, `<area shape=rect href="${token(url)}"/>`],
  ['a slash before the attribute', `<a/href="${written}">x</a>`, `<a/href="${token(url)}">x</a>`],
  [
    'the first of two',
    `<a href="${written}" href="https://b.example">`,
    `<a href="${token(url)}" href="https://b.example">`,
  ],
  ['a sign inside a value', `<a title="a > b" href="${written}">`, `<a title="a > b" href="${token(url)}">`],
  [
    'revealed conditional',
    `<![if !mso]><a href="${written}">x</a><![endif]>`,
    `<![if !mso]><a href="${token(url)}">x</a><![endif]>`,
  ],
  ['after a comment', `<!-- x --><a href="${written}">`, `<!-- x --><a href="${token(url)}">`],
  ['after an empty comment', `<!--><a href="${written}">`, `<!--><a href="${token(url)}">`],
  [
    'after a style',
    `<style>a > b{}</style ><a href="${written}">`,
    `<style>a > b{}</style ><a href="${token(url)}">`,
  ],
]

describe('a link is tracked, and nothing else changes', () => {
  for (const [title, before, after] of rewritten) test(title, () => assert.equal(tracked(before), after))
})

const untouched = [
  '<a href="mailto:a@example.com">x</a>',
  '<a href="tel:+33123456789">x</a>',
  '<a href="#top">x</a>',
  '<a href="data:text/html,x">x</a>',
  '<a href="javascript:void(0)">x</a>',
  '<a href="/relative">x</a> <a href="//host.example/x">x</a>',
  '<a href="{{ unsubscribe }}">x</a>',
  '<a href>x</a><a href="">x</a><a name="x">y</a><a>z</a>',
  `<a href="${written}" data-no-track>x</a>`,
  `<a href="${written}" class="button no-track big">x</a>`,
  `<A DATA-NO-TRACK="" href='${written}'>x</A>`,
  `<!-- <a href="${written}">x</a> -->`,
  `<!--[if mso]><v:roundrect href="${written}"><a href="${written}">x</a></v:roundrect><![endif]-->`,
  `<style>/* <a href="${written}"> */</style>`,
  `<script>'<a href="${written}">'</script>`,
  `<textarea><a href="${written}"></textarea><title><a href="${written}"></title>`,
  `<img alt='<a href="${written}">' src="${written}">`,
  `<link href="${written}"><base href="${written}"><abbr href="${written}">`,
  `<a href="https://x.example/${'y'.repeat(3_000)}">too long</a>`,
  '<a href="https://[bad/">x</a><a href="https://a b.example/">y</a>',
  '<a href="https://shop.example/caf&eacute;">x</a>',
  `< a href="${written}">, 1 < 2, <3, <`,
  `<a href="${written}`,
  `<a title="unclosed href='${written}'>`,
]

describe('left as it is', () => {
  for (const html of untouched) test(html.slice(0, 90), () => assert.equal(tracked(html), html))
})

test('the caller can except links', () => {
  const html = `<a href="${written}">x</a><a href="https://u.example/u/1">y</a>`
  const except = (each: string) => each.startsWith('https://u.example/')
  assert.equal(rewriteHtml(html, { click, except }), html.replace(written, token(url)))
})

test('a tracked address is encoded for its place', () => {
  const odd = () => `https://t.example/?a=1&b="'<>`
  const after = 'https://t.example/?a=1&amp;b=&quot;&#39;&lt;&gt;'
  assert.equal(rewriteHtml(`<a href='${written}'>`, { click: odd }), `<a href='${after}'>`)
})

const pixelUrl = 'https://t.example/o/abc?x=1&y=2'
const pixel =
  '<img src="https://t.example/o/abc?x=1&amp;y=2" width="1" height="1" alt="" ' +
  'style="display:block;width:1px;height:1px;border:0">'

test('the pixel stands before the last end of the body, or at the end', () => {
  assert.equal(rewriteHtml('<p>x</p>', { pixelUrl }), `<p>x</p>${pixel}`)
  assert.equal(rewriteHtml('<BODY>x</BODY ></html>', { pixelUrl }), `<BODY>x${pixel}</BODY ></html>`)
  assert.equal(rewriteHtml('a</body>b</body>c', { pixelUrl }), `a</body>b${pixel}</body>c`)
  assert.equal(rewriteHtml('a</body><!-- </body> -->', { pixelUrl }), `a${pixel}</body><!-- </body> -->`)
})

test('links and pixel go together, links behind the body too', () => {
  const html = `<body><a href="${written}">1</a></body><a href="${written}">2</a>`
  assert.equal(
    rewriteHtml(html, { click, pixelUrl }),
    `<body><a href="${token(url)}">1</a>${pixel}</body><a href="${token(url)}">2</a>`,
  )
})

test('without anything to do, the text comes back', () => {
  const html = `<body><a href="${written}">1</a></body>`
  assert.equal(rewriteHtml(html, {}), html)
})

test('the links of a message', () => {
  const html = `<a href="${written}">1</a><a href='https://b.example' data-no-track>2</a><a href="mailto:x">3</a>
    <area href=${url}><!-- <a href="https://no.example"> -->`
  assert.deepEqual(linksOf(html), [url, 'https://b.example'])
})

const piece = fc.oneof(
  fc.constantFrom(
    '<a ',
    'href=',
    '"',
    "'",
    '>',
    '<',
    '/',
    '</a>',
    '<!--',
    '-->',
    '<style>',
    '</style>',
    '<b ',
    '=',
    ' ',
  ),
  fc.constantFrom(
    'https://x.example/',
    '&amp;',
    '\n',
    'class="no-track"',
    '</body>',
    '<title>',
    '<![if x]>',
    'é',
  ),
  fc.string({ maxLength: 5 }),
)
const anyHtml = fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join(''))

test('whatever the text, only addresses of links change', () => {
  const mark = '\ue000'
  fc.assert(
    fc.property(anyHtml, (html) => {
      const after = rewriteHtml(html, { click: () => mark })
      if (!after.includes(mark)) return assert.equal(after, html)
      // Quotes are put around an address that had none; they go before comparing.
      const kept = after.split(/"?\ue000"?/u)
      assert.ok(html.startsWith(kept[0] ?? '') && html.endsWith(kept.at(-1) ?? ''), `${html} → ${after}`)
      let at = 0
      for (const part of kept) {
        const found = html.indexOf(part, at)
        assert.ok(found >= at, `${html} → ${after}`)
        at = found + part.length
      }
    }),
    { numRuns: 3_000 },
  )
})

const pathological = [
  '<a ',
  '<a href="',
  "<a href='",
  '<!--',
  '<!',
  '<style>',
  '</',
  '<a href=x',
  '<',
  '<a "',
  '<title',
  '=',
  '<a href=" ',
]

test('the time grows with the length only', { timeout: 30_000 }, () => {
  for (const each of pathological) {
    const html = each.repeat(Math.ceil(2_000_000 / each.length))
    const before = process.cpuUsage()
    rewriteHtml(html, { click, pixelUrl })
    const { user, system } = process.cpuUsage(before)
    assert.ok(user + system < 4_000_000, `${each} took ${(user + system) / 1000} ms`)
  }
})
