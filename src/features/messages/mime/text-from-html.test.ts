import assert from 'node:assert/strict'
import { test } from 'node:test'
import { textFromHtml } from './text-from-html.ts'

test('a mail becomes readable text', () => {
  const html = `<html><head><title>T</title><style>p { color: red }</style></head><body>
    <div style="display:none">preview</div>
    <h1>Order 42</h1><p>Hello <b>Bob</b>,</p>
    <table><tr><td>Coffee</td><td>3 €</td></tr><tr><td>Tea</td><td>2 €</td></tr></table>
    <p><a href="https://shop.example/o?a=1&amp;b=2">See it</a></p>
    <ul><li>one</li><li>two</li></ul><script>x()</script>
    <a href="https://shop.example"><img src="l.png" alt="Shop"></a><img src="pixel.gif" alt="">
  </body></html>`
  assert.equal(
    textFromHtml(html),
    [
      'Order 42',
      '',
      'Hello Bob,',
      '',
      'Coffee 3 €',
      'Tea 2 €',
      '',
      'See it [https://shop.example/o?a=1&b=2]',
      '',
      ' * one',
      ' * two',
      '',
      'Shop [https://shop.example]',
    ].join('\n'),
  )
})

test('what stands on a line of its own in a browser stands so here', () => {
  const html = '<center>Sale</center><center>today</center><dl><dt>Size</dt><dd>M</dd></dl>'
  assert.equal(textFromHtml(`${html}<figcaption>Red</figcaption>`), 'Sale\ntoday\nSize\nM\nRed')
})

test('a link whose text is its address is shown once, and no link is broken', () => {
  const long = `https://shop.example/${'p'.repeat(300)}`
  assert.equal(textFromHtml(`<a href="${long}">${long}</a>`), long)
  assert.equal(
    textFromHtml(`<p>${'word '.repeat(30)}<a href="${long}">x</a></p>`),
    `${'word '.repeat(30)}x [${long}]`,
  )
  assert.equal(
    textFromHtml('<a href="mailto:a@b.example">a@b.example</a> <a href="#top">up</a>'),
    'a@b.example up',
  )
})

test('the same HTML gives the same text, from memory', () => {
  const html = `<p>${'again '.repeat(1000)}</p>`
  assert.equal(textFromHtml(html), textFromHtml(html))
})

test('an embedded image does not crowd out the text', () => {
  const html = `<img src="data:image/png;base64,${'A'.repeat(2_000_000)}" alt="logo"><p>text</p>`
  assert.equal(textFromHtml(html), 'logo\n\ntext')
})

test('hostile HTML ends soon', { timeout: 20_000 }, () => {
  const pieces = [
    '<',
    '&',
    '<div>',
    '<b>x',
    '<ul><li>',
    '<table><tr><td>',
    '<div></x>',
    '<a href="x">',
    '<!--',
    '<p><b>',
    '🎺',
  ]
  for (const piece of pieces) textFromHtml(piece.repeat(Math.ceil(1_000_000 / piece.length)))
  assert.ok(textFromHtml(`a${'🎺'.repeat(400_000)}`).isWellFormed())
  textFromHtml('<blockquote>'.repeat(29) + 'x<br>'.repeat(9_000))
  assert.equal(textFromHtml(''), '')
})
