import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import { until } from '../../../test/until.ts'

const app = await makeApp({ deliver: true })
const file = Buffer.alloc(14 * 1024 * 1024, 'x')
const content = file.toString('base64')

test('a file of 14 MB is taken by both namespaces and arrives whole', async () => {
  const own = await app.call('POST', '/api/v1/transactional/send', {
    body: {
      ...{ from: 'shop@example.com', to: 'own@example.org', subject: 'Large', text: 'See the file.' },
      attachments: [{ filename: 'a.pdf', content }],
    },
  })
  assert.equal(own.status, 202)
  const other = await app.call('POST', '/v3/smtp/email', {
    body: {
      ...{ sender: { email: 'shop@example.com' }, to: [{ email: 'v3@example.org' }], subject: 'Large' },
      ...{ textContent: 'See the file.', attachment: [{ name: 'a.pdf', content }] },
    },
  })
  assert.equal(other.status, 201)
  for (const to of ['own@example.org', 'v3@example.org']) {
    const { body } = await until(async () => {
      const found = await app.call('GET', `/api/v1/sandbox/messages?to=${to}`)
      return found.body.data.length > 0 ? found : undefined
    }, 'the message to be captured')
    const { text } = await app.call('GET', `/api/v1/sandbox/messages/${body.data[0].id}/raw`)
    const [, encoded = ''] =
      /Content-Disposition: attachment[^\0]*?\r\n\r\n([A-Za-z0-9+/=\r\n]+?)\r\n--/.exec(text) ?? []
    assert.ok(Buffer.from(encoded, 'base64').equals(file), to)
  }
})

test('a file without a byte arrives as well, also alone', async () => {
  const attachments = [{ filename: 'empty.csv', content: '' }]
  const letter = { from: 'shop@example.com', to: 'empty@example.org', subject: 'Empty', text: 'No orders.' }
  const { status, body } = await app.call('POST', '/api/v1/transactional/send', {
    body: { ...letter, attachments },
  })
  assert.equal(status, 202)
  const { id } = await until(
    async () => (await app.call('GET', '/api/v1/sandbox/messages?to=empty@example.org')).body.data[0],
    'the message to be captured',
  )
  const { text } = await app.call('GET', `/api/v1/sandbox/messages/${id}/raw`)
  assert.match(text, /Content-Disposition: attachment; filename="empty\.csv"\r\n\r\n\r\n--/)
  assert.equal((await app.call('GET', `/v3/smtp/emails/${body.id}`)).body.attachmentCount, 1)
})
