import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'
import { proxyTo } from '../../../../test/stand-ins/cuttable-proxy.ts'
import {
  type Dovecot,
  dovecotForTests,
  password,
  withoutDovecot,
} from '../../../../test/stand-ins/dovecot.ts'
import { until as untilSoon } from '../../../../test/until.ts'
import { sql } from '../../../kernel/sql.ts'
import { sealCredentials } from '../mailboxes/credentials.ts'
import { absences } from '../reading/fixtures/replies.ts'
import { report } from '../reading/fixtures/reports.ts'
import { answerTo, makeOutreach, patienceMs, secretKeys } from './fixtures/outreach.ts'

const until: typeof untilSoon = (ask, what, ms = patienceMs) => untilSoon(ask, what, ms)

const ago = (ms: number) => new Date(Date.now() - ms)

const app = await makeApp()
const dovecot = withoutDovecot ? ({} as Dovecot) : await dovecotForTests()
const outreach = makeOutreach(app, dovecot)

describe('a watched mailbox', { skip: withoutDovecot }, () => {
  outreach.watch()

  test('an answer in the thread is kept, stops the sequence and is not marked as read', async () => {
    const mailbox = await outreach.makeMailbox()
    const written = await outreach.writeTo(mailbox)
    const other = await outreach.writeTo(mailbox, { email: written.email })
    await dovecot.append(mailbox.user, answerTo(written))
    const reply = await outreach.reply(written)
    assert.deepEqual([reply.kind, reply.classification, reply.sender], ['reply', 'interested', written.email])
    assert.deepEqual((await outreach.enrolment(written)).reason, 'replied')
    assert.deepEqual((await outreach.enrolment(other)).reason, 'replied')
  })

  test('an answer from another address, of another person of the company, and in Junk', async () => {
    const mailbox = await outreach.makeMailbox()
    const elsewhere = await outreach.writeTo(mailbox)
    await dovecot.append(mailbox.user, answerTo(elsewhere, { from: 'assistant@elsewhere.example' }), {
      folder: 'Spam',
    })
    // Junk is looked at along with the inbox, and nobody tells of news in it: the first look may have been before.
    const hasReply = async () => (await outreach.replies(mailbox)).length > 0
    await until(async () => {
      if (await hasReply()) return true
      await dovecot.append(mailbox.user, answerTo(elsewhere, { from: 'friend@private.example', headers: [] }))
      return hasReply()
    }, 'the answer in Junk')
    const reply = await outreach.reply(elsewhere)
    assert.equal(reply.sender, 'assistant@elsewhere.example')
    assert.equal((await outreach.enrolment(elsewhere)).state, 'stopped')
    const weak = await outreach.writeTo(mailbox, { email: 'boss@firm.example', subject: 'Bread for firms' })
    await dovecot.append(
      mailbox.user,
      answerTo(weak, { from: 'aide@firm.example', subject: 'AW: Bread for firms', headers: [] }),
    )
    await until(async () => (await outreach.replies(mailbox)).length === 2, 'the second')
    assert.match((await outreach.reply(weak)).reason, /weak/)
    assert.equal((await outreach.enrolment(weak)).state, 'stopped')
  })

  test('an answer that takes too long to be read is an answer all the same', async () => {
    const mailbox = await outreach.makeMailbox()
    const written = await outreach.writeTo(mailbox)
    await dovecot.append(mailbox.user, answerTo(written, { text: '\r\n'.repeat(400_000) }))
    const reply = await outreach.reply(written)
    assert.deepEqual([reply.kind, reply.classification, reply.sender], ['reply', null, written.email])
    assert.equal((await outreach.enrolment(written)).reason, 'replied')
  })

  test('private mail is not kept', async () => {
    const mailbox = await outreach.makeMailbox()
    const written = await outreach.writeTo(mailbox)
    const priv = (from: string, subject: string, headers: string[] = []) =>
      dovecot.append(mailbox.user, answerTo(written, { from, subject, headers }))
    await priv('friend@private.example', 'Re: A question')
    await priv('bank@bank.example', 'Your statement', ['In-Reply-To: <unknown@bank.example>'])
    await priv('MAILER-DAEMON@mx.example', 'Undelivered Mail Returned to Sender')
    await priv(mailbox.email, 'Re: A question', [`In-Reply-To: ${written.messageId}`])
    await dovecot.append(mailbox.user, answerTo(written))
    await outreach.reply(written)
    const kept = await outreach.replies(mailbox)
    assert.deepEqual(
      kept.map(({ sender }) => sender),
      [written.email],
    )
  })

  test('what came before the mailbox was declared is not read', async () => {
    // Nobody looks into the mailbox before all of it is there.
    const { mailbox, written } = await app.pools.db.transaction(async (tx) => {
      const unseen = makeOutreach({ ...app, pools: { db: tx } }, dovecot)
      const mailbox = await unseen.makeMailbox(app.accountId, { createdAt: ago(3_600_000) })
      const written = await unseen.writeTo(mailbox)
      const came = (from: string, at: Date) =>
        dovecot.append(mailbox.user, answerTo(written, { from }), { at })
      await came('old@x.example', ago(86_400_000))
      await came('new@x.example', ago(1_800_000))
      return { mailbox, written }
    })
    await dovecot.append(mailbox.user, answerTo(written))
    await until(
      async () => (await outreach.replies(mailbox)).some(({ sender }) => sender === written.email),
      'the last',
    )
    const senders = (await outreach.replies(mailbox)).map(({ sender }) => sender)
    assert.deepEqual(senders.sort(), ['new@x.example', written.email].sort())
  })

  test('whoever asks to be left alone is suppressed in the account, and in no other', async () => {
    const mailbox = await outreach.makeMailbox()
    const written = await outreach.writeTo(mailbox)
    await dovecot.append(mailbox.user, answerTo(written, { text: 'Please remove me from your list.' }))
    assert.equal((await outreach.reply(written)).classification, 'unsubscribe')
    assert.equal(await outreach.suppressed(app.accountId, written.email), 'unsubscribe')
    assert.equal((await outreach.enrolment(written)).reason, 'unsubscribed')
    const { accountId } = await app.makeAccount()
    assert.equal(await outreach.suppressed(accountId, written.email), undefined)
  })

  const away = async (subject: string, text: string) => {
    const mailbox = await outreach.makeMailbox()
    const written = await outreach.writeTo(mailbox)
    const headers = [`In-Reply-To: ${written.messageId}`, 'Auto-Submitted: auto-replied']
    await dovecot.append(mailbox.user, answerTo(written, { subject, text, headers }))
    const reply = await outreach.reply(written)
    assert.deepEqual([reply.kind, reply.classification], ['automatic', 'absence'])
    return outreach.enrolment(written)
  }

  for (const [subject, text] of absences)
    test(`somebody is away: ${text}`, async () => {
      const { state, days } = await away(subject, text)
      assert.equal(state, 'active')
      assert.ok(days >= 3)
    })

  test('who is away is written to after their return, or a week later', async () => {
    const back = new Date(Date.now() + 20 * 86_400_000).toISOString().slice(0, 10)
    const { days } = await away('Out of office', `I am away until ${back}.`)
    assert.ok(days === 20 || days === 21, String(days))
    assert.equal((await away('Out of office', 'I am travelling.')).days, 7)
  })

  test('a ticket system is kept and stops nothing; who left is written to no more', async () => {
    const mailbox = await outreach.makeMailbox()
    const [ticket, left] = [await outreach.writeTo(mailbox), await outreach.writeTo(mailbox)]
    const machine = (written: typeof left, text: string) =>
      answerTo(written, {
        text,
        headers: [`In-Reply-To: ${written.messageId}`, 'Auto-Submitted: auto-generated'],
      })
    await dovecot.append(mailbox.user, machine(ticket, 'Your request has the number 7.'))
    await dovecot.append(mailbox.user, machine(left, 'Anna is no longer with the company.'))
    await until(async () => (await outreach.replies(mailbox)).length === 2, 'both')
    assert.equal((await outreach.enrolment(ticket)).state, 'active')
    assert.equal((await outreach.enrolment(left)).state, 'stopped')
  })

  test('a report of a dead address suppresses it; one of a delay, a block or another address does not', async () => {
    const mailbox = await outreach.makeMailbox()
    const [dead, late, blocked, forwarded] = await Promise.all(
      [1, 2, 3, 4].map(() => outreach.writeTo(mailbox)),
    )
    assert.ok(dead && late && blocked && forwarded)
    const to = mailbox.email
    const told = (one: typeof dead, given: object = {}) =>
      dovecot.append(mailbox.user, report({ recipient: one.email, original: one.messageId, to, ...given }))
    await told(late, { action: 'delayed', status: '4.4.1' })
    await told(blocked, { status: '5.7.1', diagnostic: '550 5.7.1 blocked using a list' })
    await told(forwarded, { recipient: 'behind@elsewhere.example' })
    await told(dead)
    await until(
      async () => (await outreach.suppressed(app.accountId, dead.email)) === 'hard_bounce',
      'the suppression',
    )
    assert.equal((await outreach.enrolment(dead)).reason, 'bounced')
    assert.equal((await outreach.enrolment(late)).state, 'active')
    assert.equal((await outreach.enrolment(blocked)).reason, 'undeliverable')
    for (const { email } of [late, blocked, forwarded])
      assert.equal(await outreach.suppressed(app.accountId, email), undefined)
    assert.equal(await outreach.suppressed(app.accountId, 'behind@elsewhere.example'), undefined)
    assert.deepEqual(
      (await outreach.replies(mailbox)).map(({ kind }) => kind),
      ['bounce', 'bounce', 'bounce'],
    )
  })

  test('a message that nobody answered for is found among what was sent', async () => {
    const mailbox = await outreach.makeMailbox()
    const written = await outreach.writeTo(mailbox)
    await outreach.synced(mailbox)
    await app.pools.db.run(sql`
      update outreach_messages set state = 'unconfirmed', sent_at = null
       where account_id = ${app.accountId} and id = ${written.ref}`)
    await dovecot.append(mailbox.user, `X-Posthorn-Id: ${written.ref}\r\n${answerTo(written)}`, {
      folder: 'Sent',
    })
    await dovecot.append(mailbox.user, answerTo(written))
    await outreach.reply(written)
    await until(async () => (await outreach.messageState(written)) === 'sent', 'the message to be confirmed')
  })

  test('a wrong password is tried three times and no more, until it changes', async () => {
    const mailbox = await outreach.makeMailbox(app.accountId, { password: 'wrong' })
    const written = await outreach.writeTo(mailbox)
    await dovecot.append(mailbox.user, answerTo(written))
    const state = () => outreach.mailboxState(mailbox)
    await until(async () => (await state()).state === 'paused', 'the mailbox to be paused')
    assert.deepEqual([(await state()).imap_failures, (await state()).paused_reason], [3, 'login'])
    assert.match(String((await state()).imap_error), /refused the login/)
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    assert.equal((await state()).imap_failures, 3)
    const path = `/v3/outreach/mailboxes/${mailbox.id}`
    assert.equal((await app.call('PUT', path, { body: { state: 'active' } })).status, 204)
    await until(async () => (await state()).state === 'paused', 'it to be tried again')
    const secret = { password }
    const sealed = await sealCredentials(secretKeys, mailbox, { smtp: secret, imap: secret })
    await app.pools.db.run(sql`
      update outreach_mailboxes set sealed = ${sealed} where account_id = ${app.accountId} and id = ${mailbox.id}`)
    await outreach.reply(written)
    await until(async () => (await outreach.mailboxState(mailbox)).imap_error === null, 'the error to go')
  })

  test('a connection that is cut again and again loses nothing and doubles nothing', async () => {
    const proxy = await proxyTo(`imap://127.0.0.1:${dovecot.port}`)
    const mailbox = await outreach.makeMailbox(app.accountId, { port: Number(new URL(proxy.url).port) })
    const written = await outreach.writeTo(mailbox)
    const count = 40
    for (let n = 0; n < count; n++)
      await dovecot.append(
        mailbox.user,
        answerTo(written, { id: `cut-${n}-${randomUUID()}`, from: `p${n}@x.example` }),
      )
    const cutting = setInterval(() => proxy.mend(), 60)
    setTimeout(() => clearInterval(cutting), 1_500)
    await until(async () => (await outreach.replies(mailbox)).length >= count, 'all of them', 30_000)
    clearInterval(cutting)
    const senders = (await outreach.replies(mailbox)).map(({ sender }) => sender)
    assert.equal(new Set(senders).size, count)
    assert.equal(senders.length, count)
  })
})

test('two processes, one of them dead: everything once', { skip: withoutDovecot }, async () => {
  const own = await makeApp()
  const here = makeOutreach(own, dovecot)
  const [mailbox, second] = [await here.makeMailbox(), await here.makeMailbox()]
  const [written, other] = [await here.writeTo(mailbox), await here.writeTo(second)]
  const watchings = [here.watch({ leaseMs: 1_000 }), here.watch({ leaseMs: 1_000 })]
  for (let n = 0; n < 5; n++) {
    await dovecot.append(mailbox.user, answerTo(written, { from: `a${n}@x.example` }))
    await dovecot.append(second.user, answerTo(other, { from: `b${n}@x.example` }))
  }
  await until(
    async () => (await here.replies(mailbox)).length === 5 && (await here.replies(second)).length === 5,
    'all',
  )
  // A lease of a process that does not renew it any more.
  await own.pools.db.run(
    sql`update outreach_watches set holder = gen_random_uuid() where account_id = ${own.accountId}`,
  )
  await dovecot.append(mailbox.user, answerTo(written, { from: 'after@x.example' }))
  await until(async () => (await here.replies(mailbox)).length === 6, 'the last')
  await Promise.all(watchings.map((watching) => watching.stop()))
  assert.equal((await here.replies(mailbox)).length, 6)
  assert.equal((await here.replies(second)).length, 5)
})

test('a folder that is numbered anew gives nothing twice, and what is new', {
  skip: withoutDovecot,
}, async () => {
  const here = makeOutreach(await makeApp(), dovecot)
  const mailbox = await here.makeMailbox()
  const written = await here.writeTo(mailbox)
  const before = here.watch()
  await dovecot.append(mailbox.user, answerTo(written))
  await dovecot.append(mailbox.user, answerTo(written, { id: null, text: 'I have no identifier.' }))
  await until(async () => (await here.replies(mailbox)).length === 2, 'both')
  await before.stop()
  await dovecot.rebuild(mailbox.user)
  await dovecot.append(mailbox.user, answerTo(written, { from: 'later@x.example' }))
  const again = here.watch()
  await until(async () => (await here.replies(mailbox)).length >= 3, 'the new one')
  await again.stop()
  assert.equal((await here.replies(mailbox)).length, 3)
})
