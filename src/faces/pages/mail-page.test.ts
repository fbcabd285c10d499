import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mailPage } from './mail-page.ts'

const size = '<meta name="viewport" content="width=device-width">'
const subject = 'Tea & <salt>'
const title = '<title>Tea &#38; &#60;salt&#62;</title>'
const shown = (html: string) => mailPage({ html, subject })

test('a message as a page has its subject as title and the width of the screen', () => {
  assert.equal(shown('<p>Hello</p>'), `${size}${title}<p>Hello</p>`)
  for (const before of [
    '<!DOCTYPE html>',
    '<!doctype html>\n<html lang="fr">',
    '<html><!-- <head> --><head>',
    ' ',
  ])
    for (const after of [
      '<body><title>x</title>Hello',
      '<svg><title>x</title></svg>',
      '<title> </title><body>',
    ]) {
      const at = before === ' ' ? 0 : before.length
      const whole = before + after
      assert.equal(shown(whole), `${whole.slice(0, at)}${size}${title}${whole.slice(at)}`)
    }
  assert.equal(mailPage({ html: '<p>Hello</p>', subject: ' ' }), `${size}<p>Hello</p>`)
})

test('what its author wrote about either stays', () => {
  const meta = '<META content="width=600" name=Viewport>'
  assert.equal(shown(`<head>${meta}<p>`), `<head>${title}${meta}<p>`)
  assert.equal(shown('<head><title>News</title><p>'), `<head>${size}<title>News</title><p>`)
  const own = `<!doctype html><html><head>${meta}<title>\n  News</title></head><body>Hello</body></html>`
  assert.equal(shown(own), own)
})
