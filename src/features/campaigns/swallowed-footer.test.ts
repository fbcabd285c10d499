import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { base, call, campaign, create, shop } from './fixtures/campaigns.ts'

const openings = [
  '<!-- x',
  '<style>.a{}',
  '<script>x',
  '<title>x',
  '<textarea>x',
  '<p style="display:none">x',
]
const leave = '<a href="{{ unsubscribe }}">Leave</a>'

describe('what is open at the end of the content', () => {
  test('is refused in a campaign where the way out is put behind it', async () => {
    const { key, listId } = await shop()
    const recipients = { listIds: [listId] }
    const subject = 'Hello'
    for (const open of openings) {
      const htmlContent = `<p>Hello there</p>${open}`
      const made = await call(key, 'POST', base, { ...campaign, recipients, htmlContent })
      assert.deepEqual([made.status, made.body.code], [400, 'invalid_parameter'], open)
      assert.ok(made.body.message.includes(`${open} is never closed and hides all that follows`), open)
      const own = { list_id: listId, subject, html: htmlContent, from: 'news@shop.example', confirm: true }
      assert.equal((await call(key, 'POST', '/api/v1/campaigns/send', own)).status, 422, open)
    }
  })

  test('is refused where the footer of the campaign stands behind it, though the content has a way out', async () => {
    const { key } = await shop()
    const footer = '<p>Shop Ltd, 1 High Street</p>'
    for (const open of openings) {
      const htmlContent = `<p>Hello there ${leave}</p>${open}`
      const made = await call(key, 'POST', base, { ...campaign, htmlContent, footer })
      assert.equal(made.status, 400, open)
      assert.match(made.body.message, /^htmlContent .*is never closed and hides all that follows/)
      const id = await create(key, { footer })
      assert.equal((await call(key, 'PUT', `${base}/${id}`, { htmlContent })).status, 400, open)
    }
    await create(key, { htmlContent: `<body><p>Hello ${leave}</p><style>.a{}</style></body>`, footer })
    await create(key, { htmlContent: `<body><p>Hello ${leave}</p></body><!-- x`, footer })
    await create(key, { htmlContent: `<p>Hello ${leave}</p><!-- x` })
  })

  test('is refused in a step of an automation', async () => {
    const { key } = await shop()
    for (const open of openings) {
      const step = {
        delay_minutes: 0,
        subject: 'Hello',
        html: `<p>Hello</p>${open}`,
        from: 'news@shop.example',
      }
      const body = { name: 'a', trigger: { event_name: 'a' }, steps: [step] }
      const { status, text } = await call(key, 'POST', '/api/v1/automations', body)
      assert.equal(status, 422, text)
      assert.match(text, /is never closed and hides all that follows/)
    }
  })
})
