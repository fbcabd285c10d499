import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { silentLog } from '../../kernel/log.ts'
import { int, row } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'
import { workImports } from '../contacts/import/work-imports.ts'
import { makeDomainApp } from '../domains/fixtures/app.ts'
import { diagnosing, env } from './fixtures/diagnosing.ts'

const app = await makeDomainApp({ env })
const { clock } = app
const { db } = app.pools
const { setUp, today } = diagnosing(app)

describe('reputation', () => {
  const rates: [string, Record<string, number>, string | undefined][] = [
    ['hard_bounces_high', { sent: 1_000, hard_bounces: 19 }, undefined],
    ['hard_bounces_high', { sent: 1_000, hard_bounces: 20 }, 'warning'],
    ['hard_bounces_high', { sent: 1_000, hard_bounces: 50 }, 'critical'],
    ['hard_bounces_high', { sent: 2, hard_bounces: 2 }, undefined],
    ['complaints_high', { sent: 10_000, complaints: 9 }, undefined],
    ['complaints_high', { sent: 10_000, complaints: 10 }, 'warning'],
    ['complaints_high', { sent: 10_000, complaints: 30 }, 'critical'],
  ]
  for (const [code, counts, severity] of rates)
    test(`${code}: ${JSON.stringify(counts)} is ${severity ?? 'fine'}`, async () => {
      const { call, find, count } = await setUp()
      await count(counts)
      const finding = await find(code)
      assert.equal(finding?.severity, severity)
      if (!finding) return
      assert.deepEqual([finding.evidence.sent, finding.action], [counts.sent, null])
      // Nothing takes the past back; better messages push it below.
      await count({ sent: 1_000_000 })
      assert.equal(await find(code), undefined)
      assert.equal((await call('GET', finding.proof.path)).status, 200)
    })

  test('recipient_domain_blocks tells what the servers said', async () => {
    const { accountId, call, must } = await setUp()
    await db.run(sql`
      insert into domain_count_changes (account_id, day, recipient_domain, name, n)
      values (${accountId}, ${today}::date, 'gmail.test', 'sent', 100),
             (${accountId}, ${today}::date, 'gmail.test', 'soft_bounces', 12),
             (${accountId}, ${today}::date, 'fine.test', 'sent', 100)`)
    const body = { from: 'a@shop.example', to: 'ann@gmail.test', subject: 'Hi', text: 'Hi.' }
    await call('POST', '/api/v1/transactional/send', body)
    await db.run(sql`
      update messages
         set status = 'failed', last_error = '{"enhanced_code": "5.7.26", "message": "unauthenticated"}'
       where account_id = ${accountId}`)
    const { severity, evidence } = await must('recipient_domain_blocks')
    assert.deepEqual([severity, evidence.recipient_domain, evidence.rate], ['critical', 'gmail.test', 0.12])
    assert.deepEqual(evidence.replies, [
      { class: null, code: '5.7.26', message: 'unauthenticated', count: 1 },
    ])
  })

  test('recipient_domain_blocks: mailboxes that are full do not count as refusals', async () => {
    const { accountId, call, find, must } = await setUp()
    await db.run(sql`
      insert into domain_count_changes (account_id, day, recipient_domain, name, n)
      values (${accountId}, ${today}::date, 'full.test', 'sent', 100),
             (${accountId}, ${today}::date, 'full.test', 'soft_bounces', 8)`)
    assert.equal((await must('recipient_domain_blocks')).evidence.refused, 8)
    for (let n = 0; n < 4; n++)
      await call('POST', '/api/v1/transactional/send', {
        from: 'a@shop.example',
        to: `ann${n}@full.test`,
        subject: 'Hi',
        text: 'Hi.',
      })
    await db.run(sql`
      update messages
         set status = 'failed',
             last_error = '{"code": "mailbox_full", "enhanced_code": "4.2.2", "message": "over quota"}'
       where account_id = ${accountId}`)
    assert.equal(await find('recipient_domain_blocks'), undefined)
    await db.run(sql`
      insert into domain_count_changes (account_id, day, recipient_domain, name, n)
      values (${accountId}, ${today}::date, 'full.test', 'soft_bounces', 2)`)
    const { evidence } = await must('recipient_domain_blocks')
    assert.deepEqual([evidence.refused, evidence.full_mailboxes, evidence.rate], [6, 4, 0.06])
  })

  test('campaign_hurts: interrupting it ends it', async () => {
    const { call, must, follow, count } = await setUp()
    const { id: listId } = (await call('POST', '/v3/contacts/lists', { name: 'L' })).body
    await call('POST', '/v3/contacts', { email: 'ann@example.org', listIds: [listId] })
    const campaign = {
      name: 'C',
      subject: 'C',
      htmlContent: '<p>{{ unsubscribe }}</p>',
      sender: { email: 'a@b.example' },
    }
    const { body } = await call('POST', '/v3/emailCampaigns', {
      ...campaign,
      recipients: { listIds: [listId] },
    })
    await call('POST', `/v3/emailCampaigns/${body.id}/sendNow`, { confirm: true })
    await count({ sent: 100, hard_bounces: 6 }, { campaignId: body.id })
    const finding = await must('campaign_hurts')
    assert.deepEqual([finding.severity, finding.evidence.hard_bounce_rate], ['critical', 0.06])
    await follow(finding.code, finding)
  })
})

describe('origin of contacts', () => {
  const poor = { sent: 1_000, hard_bounces: 60, unsubscriptions: 1 }
  const Status = row<{ n: number }>({ n: int })
  const subscribed = async (accountId: string) =>
    (
      await db.one(
        Status,
        sql`select count(*)::int as n from contacts where account_id = ${accountId} and status = 'subscribed'`,
      )
    ).n

  test('consent_source_poor: stopping the source ends it, and nobody else is touched', async () => {
    const { accountId, call, must, follow, find, count } = await setUp()
    for (const [email, consentSource] of [
      ['a@example.org', 'fair'],
      ['b@example.org', 'fair'],
      ['c@example.org', 'shop'],
      ['d@example.org', undefined],
    ])
      await call('POST', '/v3/contacts', { email, consentSource })
    await count({ sent: 1_000, hard_bounces: 1 }, { campaignId: 7, source: 'shop' })
    await count(poor, { source: 'shop' })
    assert.equal(await find('consent_source_poor'), undefined, 'transactional mail has no list')
    await count(poor, { campaignId: 7, source: 'fair' })
    const finding = await must('consent_source_poor')
    assert.deepEqual([finding.severity, finding.evidence.consent_source], ['critical', 'fair'])
    assert.deepEqual([finding.evidence.sent, finding.evidence.hard_bounce_rate], [1_000, 0.06])
    await follow(finding.code, finding)
    assert.equal(await subscribed(accountId), 2)
    const { body } = await call('GET', '/v3/contacts/a@example.org/history')
    assert.deepEqual([body.history[0].attribute, body.history[0].source], ['STATUS', 'origin stopped'])
    await count(poor, { campaignId: 7 })
    const without = await must('consent_source_poor')
    assert.equal(without.evidence.consent_source, null)
    await follow(without.code, without)
    assert.equal(await subscribed(accountId), 1)
  })

  test('import_poor: stopping the import ends it', async () => {
    const { accountId, call, must, follow } = await setUp()
    const nothing = {
      fetchFile: async () => ({ body: Buffer.alloc(0), contentType: '' }),
      notify: async () => {},
    }
    const jsonBody = Array.from({ length: 20 }, (_, i) => ({ email: `i${i}@example.org` }))
    const { body } = await call('POST', '/v3/contacts/import', { jsonBody, disableNotification: true })
    await workImports({ db, log: silentLog, ...nothing }, clock.now)
    await call('POST', '/v3/contacts', { email: 'own@example.org' })
    await db.run(sql`
      insert into suppressions (account_id, email, reason, source, created_at, id)
      select ${accountId}, email, 'hard_bounce', 'delivery', ${clock.now}, gen_random_uuid()
        from contacts where account_id = ${accountId} and email ~ '^i[0-3]@'`)
    const finding = await must('import_poor')
    assert.deepEqual([finding.evidence.import_id, finding.evidence.contacts], [body.processId, 20])
    assert.equal(finding.evidence.hard_bounces, 4)
    await follow(finding.code, finding)
    assert.equal(await subscribed(accountId), 1)
  })

  test('origin.stop asks for one origin that is there, and for a confirmation', async () => {
    const [{ call }, other] = [await setUp(), await setUp()]
    const stop = (body: object) => call('POST', '/api/v1/deliverability/origins/stop', body)
    await other.call('POST', '/v3/contacts', { email: 'x@example.org', consentSource: 'fair' })
    for (const body of [
      {},
      { consent_source: 'a', import_id: 1 },
      { consent_source: '' },
      { import_id: 2 ** 60 },
    ])
      assert.equal((await stop({ ...body, confirm: true })).status, 422)
    assert.equal((await stop({ import_id: 999_999, confirm: true })).status, 404)
    const says = async (body: object) => {
      const { error } = (await stop(body)).body
      assert.equal(error.code, 'confirmation_required')
      return error.message.replace(/, and this cannot .*/, '')
    }
    assert.equal(await says({ consent_source: 'fair' }), 'Nobody was unsubscribed. 0 contacts would be')
    await call('POST', '/v3/contacts', { email: 'y@example.org', consentSource: 'web' })
    assert.equal(await says({ consent_source: 'web' }), 'Nobody was unsubscribed. 1 contact would be')
    const done = await stop({ consent_source: 'fair', confirm: true })
    assert.deepEqual(done.body, { unsubscribed: 0, is_complete: true })
    assert.equal(await subscribed(other.accountId), 1)
  })
})
