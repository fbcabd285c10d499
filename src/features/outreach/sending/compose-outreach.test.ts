import assert from 'node:assert/strict'
import { test } from 'node:test'
import { quickest } from '../../../../test/quickest.ts'
import { composeOutreach } from './compose-outreach.ts'

const withHtml = (html: string) =>
  composeOutreach({
    id: 'id',
    messageId: '<id@example.com>',
    from: { email: 'ana@example.com' },
    to: { email: 'bob@example.org' },
    subject: 'Hello',
    text: 'Hello',
    html,
    refs: [],
    identity: { company_name: 'Company', postal_address: 'Street 1' },
    unsubscribeUrl: 'https://x.example/u',
    date: new Date('2026-03-05T07:08:09Z'),
  }).html

test('the footer stands before the last end of the body, or at the end', () => {
  assert.match(withHtml('<p>a</body>b</BODY >c') ?? '', /^<p>a<\/body>b<p .*<\/p><\/BODY >c$/)
  assert.match(withHtml('<p>a') ?? '', /^<p>a<p .*<\/p>$/)
})

test('what stands in a comment is neither a link to leave by nor the end of the body', () => {
  const html = withHtml('<body><p>a <!-- https://x.example/u --></body><!-- </body> -->') ?? ''
  assert.match(
    html,
    /<p style.*Street 1<br><a href="https:\/\/x\.example\/u">.*<\/p><\/body><!-- <\/body> -->$/,
  )
})

test('of a body that ends many times it is found in no time', async () => {
  const html = '</body>'.repeat(50_000)
  const took = await quickest(1_500, () => withHtml(html))
  assert.ok(took < 1_500, `${took} ms`)
})
