import assert from 'node:assert/strict'
import { test } from 'node:test'
import { compileTemplate } from './compile.ts'
import { withLinks } from './old-names.ts'

const scope = {
  params: { DOIurl: 'https://mail.example/c/abc', site: 'shop.example' },
  unsubscribe_url: 'https://mail.example/u/abc',
  preferences_url: 'https://mail.example/p/abc',
  mirror: 'https://mail.example/m/abc',
  doubleoptin: 'https://mail.example/c/abc',
}

test('a scheme before an own link is left out, and before anything else stays', async () => {
  for (const [source, expected] of [
    ['<a href="http://{{ unsubscribe }}">', '<a href="https://mail.example/u/abc">'],
    ['HTTPS://{{unsubscribe|safe}}', 'https://mail.example/u/abc'],
    [
      'http://{{ update_profile }} http://{{ params.DOIurl }}',
      'https://mail.example/p/abc https://mail.example/c/abc',
    ],
    ['{{ mirror }}http://{{ mirror }}', 'https://mail.example/m/abchttps://mail.example/m/abc'],
    ['<a href="http://[UNSUBSCRIBE]">', '<a href="https://mail.example/u/abc">'],
    ['<a href="https://[DOUBLEOPTIN]">', '<a href="https://mail.example/c/abc">'],
    [
      'https://{{ params.site }} https://x{{ mirror }}',
      'https://shop.example https://xhttps://mail.example/m/abc',
    ],
    ['http:// {{ mirror }}', 'http:// https://mail.example/m/abc'],
  ])
    assert.equal(await compileTemplate(withLinks(source as string), 'html').render(scope), expected)
})
