import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeRelayApp } from './relay-app.ts'

const app = await makeRelayApp()

test('the log of sent mail shows what a message of the relay says, and how many files are with it', async () => {
  const read = async (to: string) => {
    const { body } = await app.call('GET', `/v3/smtp/emails?email=${to}`)
    return (await app.call('GET', `/v3/smtp/emails/${body.transactionalEmails[0].uuid}`)).body
  }
  const mailer = app.mailer(app.key)
  const sent = { from: 'shop@example.com', subject: 'Order 7', text: 'On its way.' }
  const attachments = [{ filename: 'note.txt', content: 'a note' }]
  await mailer.sendMail({ ...sent, to: 'ann@example.com', html: '<p>On its way, dear Ann.</p>', attachments })
  await mailer.sendMail({ ...sent, to: 'bob@example.com' })
  const [ann, bob] = [await read('ann@example.com'), await read('bob@example.com')]
  assert.match(ann.body, /<p>On its way, dear Ann\.<\/p>/)
  assert.match(bob.body, /^On its way\.\s*$/)
  assert.deepEqual([ann.attachmentCount, bob.attachmentCount, ann.subject], [1, 0, 'Order 7'])
})
