import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { describe, test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'
import { type Dovecot, dovecotForTests, withoutDovecot } from '../../../../test/stand-ins/dovecot.ts'
import { until } from '../../../../test/until.ts'
import { sql } from '../../../kernel/sql.ts'
import { complaint } from '../reading/fixtures/reports.ts'
import { makeOutreach, patienceMs, type Written } from './fixtures/outreach.ts'

const app = await makeApp()
const dovecot = withoutDovecot ? ({} as Dovecot) : await dovecotForTests()
const outreach = makeOutreach(app, dovecot)
const { accountId } = app

describe('a report of abuse', { skip: withoutDovecot }, () => {
  outreach.watch()

  const tell = ({ mailbox, messageId: original }: Written, given: object = {}) =>
    dovecot.append(mailbox.user, complaint({ original, to: mailbox.email, ...given }))
  const suppressed = ({ email }: Written) =>
    until(async () => outreach.suppressed(accountId, email), 'the suppression', patienceMs)
  const shown = async ({ mailbox }: Written) =>
    (await app.call('GET', `/v3/outreach/mailboxes/${mailbox.id}`)).body

  test('suppresses whom we wrote to in the whole account, ends all their sequences and is counted', async () => {
    const mailbox = await outreach.makeMailbox()
    const written = await outreach.writeTo(mailbox)
    const other = await outreach.writeTo(await outreach.makeMailbox(), { email: written.email })
    const bystander = await outreach.writeTo(mailbox)
    await tell(bystander, { type: 'not-spam' })
    await tell(written)
    assert.equal(await suppressed(written), 'complaint')
    for (const one of [written, other]) assert.equal((await outreach.enrolment(one)).reason, 'complained')
    assert.equal((await outreach.enrolment(bystander)).state, 'active')
    const { state, health } = await shown(written)
    assert.deepEqual([state, health.state, health.complaints], ['active', 'warning', 1])
    assert.equal((await app.call('GET', `/v3/outreach/inbox?mailboxId=${mailbox.id}`)).body.count, 0)
    const elsewhere = await app.makeAccount()
    assert.equal(await outreach.suppressed(elsewhere.accountId, written.email), undefined)
  })

  test('finds a message whose identifier the provider wrote anew; the same twice counts once', async () => {
    const mailbox = await outreach.makeMailbox()
    const written = await outreach.writeTo(mailbox)
    const original = `<${randomUUID()}@provider.example>`
    for (const id of ['a', 'b', 'c']) await tell(written, { original, ref: written.ref, id })
    const last = await outreach.writeTo(mailbox)
    await tell(last)
    await suppressed(last)
    assert.equal(await suppressed(written), 'complaint')
    assert.equal((await shown(written)).health.complaints, 2)
  })

  test('of a second person pauses the mailbox, with a notice, where it sends little', async () => {
    const mailbox = await outreach.makeMailbox()
    const [first, second] = [await outreach.writeTo(mailbox), await outreach.writeTo(mailbox)]
    for (const one of [first, second]) await tell(one)
    await suppressed(second)
    const { state, pausedReason, health } = await shown(first)
    assert.deepEqual([state, pausedReason, health.state], ['paused', 'complaints', 'failing'])
    assert.match(health.lastError, /^2 people of the last 7 days took its messages for abuse/)
    const { body } = await app.call('GET', '/api/v1/notices?open=true')
    assert.ok(body.data.some(({ subject }: { subject: string }) => subject === mailbox.email))

    const busy = await outreach.makeMailbox()
    await app.pools.db.run(sql`
      insert into outreach_mailbox_days (account_id, mailbox_id, day, sent)
      values (${accountId}, ${busy.id}, current_date, 1000)`)
    const many = await Promise.all([1, 2].map(() => outreach.writeTo(busy)))
    for (const one of many) {
      await tell(one)
      await suppressed(one)
    }
    assert.equal((await shown(many[0] as Written)).state, 'active')
  })
})
