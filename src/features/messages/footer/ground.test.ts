import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { quickest } from '../../../../test/quickest.ts'
import { isTemplateFault } from '../templates/fault.ts'
import { placeFooter, readGround } from './ground.ts'

const link = 'https://x.example/u'
const isLinked = (html: string) => readGround(html, [link]).isLinked

function faultOf(html: string) {
  try {
    placeFooter(html, '<p>F</p>')
  } catch (error) {
    if (isTemplateFault(error)) return error
    throw error
  }
  return assert.fail(`the footer was put behind ${html}`)
}

describe('the place of a footer', () => {
  test('is before the last end of the body that is one, or at the end', () => {
    const cases: [string, string][] = [
      ['<p>a', '<p>a|'],
      ['<body><p>a</body></html>', '<body><p>a|</body></html>'],
      ['a</body>b</BODY >c', 'a</body>b|</BODY >c'],
      ['<body>a</body><!-- </body> -->', '<body>a|</body><!-- </body> -->'],
      ['<body>a</body><template></body></template>', '<body>a|</body><template></body></template>'],
      ['<body>a</body><!-- never', '<body>a|</body><!-- never'],
      ['<!--[if !mso]><!--><p>a<!--<![endif]-->', '<!--[if !mso]><!--><p>a<!--<![endif]-->|'],
      ['1 < 2 & a <3', '1 < 2 & a <3|'],
    ]
    for (const [html, expected] of cases) assert.equal(placeFooter(html, '|'), expected)
  })

  test('is one where elements are open that hide nothing, or were closed', () => {
    for (const html of [
      '<html><body><div><table><tr><td><p>a',
      '<div style="display:none">pre</div><p>a',
      '<p hidden>pre<p>a',
      '<ul><li hidden>pre<li>a',
      '<table><tr><td style="display:none">x<td>a',
      '<table><tr hidden><td>x<tr><td>a',
      '<div style="display:none"><span>pre</div>a',
      '<div style="display:none"><table><tr><td>x</table></div>a',
      '<b style="display:none">x<div></b>a',
      '<td style="font-size:0px;max-height:0px;opacity:0.5">a',
      '<div style="display:none;display:block">a',
      '<div style="max-height:100px;overflow:hidden">a',
      '<img hidden><br><details open>a',
      '<svg><path/></svg><select><option>a</select><title>x</title>a',
    ])
      assert.equal(placeFooter(html, '|'), `${html}|`)
  })

  test('is none behind what is open and hides it, told with where that begins', () => {
    for (const open of [
      '<!-- x',
      '<!--[if mso]><p>x</p>',
      '<style>.a{}',
      '<script>x',
      '<title>x',
      '<textarea>x',
      '<template>x',
      '<noscript>x',
      '<select><option>x',
      '<a href="https://x.example/',
      '<p class=a',
      "<img alt='x>y</p>",
      '<div style="display:none">x',
      '<div style="Display : None !important">x<p>y</p>',
      '<div style="max-height:0;overflow:hidden">x',
      '<span style="visibility:hidden">x<p>y</p>',
      '<span hidden>x',
      '<details>x',
      '<div hidden><table><tr><td></div>x',
      '<div hidden/>',
    ]) {
      const fault = faultOf(`<body>\n <p>a</p>\n  ${open}`)
      assert.deepEqual([fault.line, fault.column], [3, 3], open)
      assert.ok(fault.message.startsWith(`${open.slice(0, 40)} is never closed`), fault.message)
    }
    assert.equal(faultOf('<body><div hidden>a</body></html>').column, 7)
    assert.equal(faultOf('<body style="display:none">a</body>').column, 1)
  })

  test('is found in no time in what opens and ends many times', async () => {
    for (const piece of [
      '</body>',
      '<div>',
      '<div></span>',
      '<b hidden><div></b>',
      '<td><p>',
      '<!-- --><a>',
    ]) {
      const html = piece.repeat(50_000)
      const took = await quickest(1_500, () => readGround(html, [link]))
      assert.ok(took < 1_500, `${piece}: ${took} ms`)
    }
  })
})

test('a link is one that readers see', () => {
  for (const html of [
    `<p>${link}</p>`,
    `<a href="${link}">out</a>`,
    `<a href="${link}"><img src="x"></a>`,
    `<a href='${link}'><b>out</b>`,
    `<div style="display:none">pre</div><a href="${link}">out</a>`,
    `<map><area href="${link}"></map>`,
  ])
    assert.ok(isLinked(html), html)
  for (const html of [
    `<!-- ${link} -->`,
    `<div style="display:none"><a href="${link}">out</a></div>`,
    `<a style="display:none" href="${link}">out</a>`,
    `<a href="${link}"></a><a href="https://x.example/">out</a>`,
    `<a href="${link}"><!-- out --></a>`,
    `<style>${link}</style>`,
    `<template><a href="${link}">out</a></template>`,
    `<p title="${link}">out</p>`,
    `<p>out</p><a href="${link}`,
    `<!-- <a href="${link}">out</a>`,
  ])
    assert.ok(!isLinked(html), html)
})
