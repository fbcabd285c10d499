import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../test/app.ts'

const app = await makeApp()

const plain = { from: 'shop@example.com', to: 'anna@example.com', subject: 'Hello', text: 'Hello.' }

async function validate(body: object) {
  const reply = await app.call('POST', '/api/v1/messages/validate', { body: { ...plain, ...body } })
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

test('a line break that a value brings into the header is refused, and found by the dry run', async () => {
  const hint = 'Take it out of the params, or the attributes of the contact, that are used there.'
  const message = (what: string) =>
    `${what} contains a line break or control character once its values are filled in.`
  const body = {
    ...{ templateName: 'T', htmlContent: '<p>Hello there</p>', isActive: true },
    ...{ subject: 'Laid out\n{% if params.n %}\n for {{ params.n }}{% endif %}' },
    sender: { email: 'shop@example.com', name: 'Shop {{ params.s }}' },
  }
  const made = await app.call('POST', '/v3/smtp/templates', { body })
  assert.equal(made.status, 201, made.text)
  const bare = { from: undefined, text: undefined, subject: undefined, template_id: made.body.id }
  const given = (params: object) => ({ ...bare, params })
  const inline = { subject: 'Hi {{ params.n }}', params: { n: 'Anna\n' } }
  for (const [change, param, what] of [
    [inline, 'subject', 'The subject'],
    [{ ...inline, params: { n: 'a\r\nBcc: b@example.com' } }, 'subject', 'The subject'],
    [given({ n: 'a\u2028b' }), 'subject', 'The subject'],
    [given({ s: 'a\x1bb' }), 'template_id', 'The name of the sender'],
  ] as const) {
    const { verdict, blocking } = await validate(change)
    const found = { code: 'invalid_parameter', message: message(what), param, hint }
    assert.deepEqual([verdict, blocking], ['blocked', [found]])
    const { status, body: refused } = await app.call('POST', '/api/v1/transactional/send', {
      body: { ...plain, ...change },
    })
    assert.equal(status, 422)
    assert.deepEqual(
      [refused.error.code, refused.error.message, refused.error.param],
      Object.values(found).slice(0, 3),
    )
  }
  const { rendered } = await validate(given({ n: 'a  \t b' }))
  assert.equal(rendered.subject, 'Laid out for a b')
})

test('NUL that a filter brings into a text is refused where it stands, and found by the dry run', async () => {
  const body = { templateName: 'T', subject: 'S', isActive: true, sender: { email: 'shop@example.com' } }
  const htmlContent = '<p>Hello {{ params.n | url_decode }}</p>'
  const made = await app.call('POST', '/v3/smtp/templates', { body: { ...body, htmlContent } })
  const params = { n: '%00' }
  for (const [change, param] of [
    [{ text: 'Hello {{ params.n | url_decode }}', params }, 'text'],
    [{ text: undefined, template_id: made.body.id, params }, 'template_id'],
  ] as const) {
    const { status, body: refused } = await app.call('POST', '/api/v1/transactional/send', {
      body: { ...plain, ...change },
    })
    const { code, message, hint } = refused.error
    assert.deepEqual([status, code, refused.error.param], [422, 'invalid_parameter', param])
    assert.match(message, /contains NUL or half of a surrogate pair once its values are filled in\.$/)
    const { verdict, blocking } = await validate(change)
    assert.deepEqual([verdict, blocking], ['blocked', [{ code, message, param, hint }]])
  }
})

test('a character that no header holds is refused in its field, and found by the dry run', async () => {
  for (const sign of ['\u2028', '\u0085'])
    for (const [change, param] of [
      [{ subject: `a${sign}b` }, 'subject'],
      [{ to: `a${sign}b <anna@example.com>` }, 'to'],
      [{ from: `a${sign}b <shop@example.com>` }, 'from'],
      [{ reply_to: { email: 'r@example.com', name: `a${sign}b` } }, 'reply_to.name'],
      [{ attachments: [{ filename: `a${sign}b.txt`, content: 'eA==' }] }, 'attachments[0].filename'],
    ] as const) {
      const { blocking } = await validate(change)
      const { status, body: refused } = await app.call('POST', '/api/v1/transactional/send', {
        body: { ...plain, ...change },
      })
      const { code, message } = refused.error
      assert.deepEqual([status, refused.error.param], [422, param])
      const found = blocking.map((one: { code: string; message: string }) => [one.code, one.message])
      assert.deepEqual(found, [[code, message]])
    }
  const default_sender = { email: 'shop@example.com', name: 'Sh\u2028op' }
  const { status } = await app.call('PUT', '/api/v1/settings', { body: { default_sender } })
  assert.equal(status, 422)
})
