import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'
import { type Dovecot, dovecotForTests, withoutDovecot } from '../../../../test/stand-ins/dovecot.ts'
import { until } from '../../../../test/until.ts'
import { findThread } from '../messages/queries.ts'
import { answerTo, makeOutreach, patienceMs, type Written } from './fixtures/outreach.ts'

const app = await makeApp()
const dovecot = withoutDovecot ? ({} as Dovecot) : await dovecotForTests()
const outreach = makeOutreach(app, dovecot)
const { db } = app.pools

test('a provider that writes a Message-ID of its own: answers to it are in the thread', {
  skip: withoutDovecot,
}, async () => {
  const mailbox = await outreach.makeMailbox()
  const [renamed, kept] = [await outreach.writeTo(mailbox), await outreach.writeTo(mailbox)]
  const final = `<${randomUUID()}@provider.example>`
  const file = (written: Written, id: string) =>
    dovecot.append(
      mailbox.user,
      `Message-ID: ${id}\r\nX-Posthorn-Id: ${written.ref}\r\nSubject: A question\r\n\r\nHello\r\n`,
      { folder: 'Sent' },
    )
  await file(renamed, final)
  await file(kept, kept.messageId)
  outreach.watch()
  const threadOf = (written: Written) => findThread(db, written)
  const isFound = async () => (await threadOf(renamed))[0]?.final_message_id === final
  await until(isFound, 'the copy to be found', patienceMs)
  assert.equal((await threadOf(kept))[0]?.final_message_id, null)

  const headers = [`In-Reply-To: ${final}`, `References: ${final}`]
  await dovecot.append(mailbox.user, answerTo(renamed, { from: 'aide@elsewhere.example', headers }))
  const reply = await outreach.reply(renamed)
  assert.match(reply.reason, /in the thread/)
  assert.equal((await outreach.enrolment(renamed)).reason, 'replied')
  assert.equal((await outreach.enrolment(kept)).state, 'active')
})
