import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { until } from '../../../test/until.ts'
import { operationId } from '../../kernel/operation.ts'
import { sql } from '../../kernel/sql.ts'
import { raiseNotice } from '../accounts/notices/notices.ts'
import { type Body, makeDomainApp } from '../domains/fixtures/app.ts'
import { keepUpstreamState } from '../messages/upstream-state-queries.ts'
import { diagnosing, env, type Finding } from './fixtures/diagnosing.ts'
import { offered } from './requests.ts'

const app = await makeDomainApp({ env })
const { clock } = app
const { db } = app.pools
const { setUp, verified } = diagnosing(app)

test('every request that a finding may offer is a declared operation, with its method, path and scope', () => {
  const declared = new Map(app.operations.map((op) => [operationId(op), op]))
  for (const [name, { method, path, scope }] of Object.entries(offered)) {
    const op = declared.get(name)
    assert.deepEqual([op?.method, op?.path, op?.scope], [method, path, scope], name)
  }
})

describe('content and set-up', () => {
  test('unsubscribe_link_missing: the offered footer ends it and keeps the one there is', async () => {
    const { call, must, follow } = await setUp()
    const campaign = {
      name: 'C',
      subject: 'C',
      htmlContent: '<p>Hello</p>',
      sender: { email: 'a@b.example' },
    }
    const { body } = await call('POST', '/v3/emailCampaigns', { ...campaign, footer: '<p>Shop Ltd</p>' })
    await call('POST', '/v3/emailCampaigns', {
      ...campaign,
      htmlContent: '<a href="{{ unsubscribe }}">x</a>',
    })
    const finding = await must('unsubscribe_link_missing')
    assert.equal(finding.evidence.campaign_id, body.id)
    await follow(finding.code, finding)
    const { body: shown } = await call('GET', `/v3/emailCampaigns/${body.id}`)
    assert.equal(shown.footer, '<p>Shop Ltd</p>[DEFAULT_FOOTER]')
  })

  for (const code of ['default_sender_missing', 'tracking_domain_foreign'])
    test(`${code}: the offered setting ends it`, async () => {
      const { key, must, follow } = await setUp()
      await verified(`${code.replaceAll('_', '-')}.example`, key)
      const finding = await must(code)
      assert.equal(finding.severity, 'info')
      await follow(code, finding)
    })

  test('webhook_disabled: switching it on ends it', async () => {
    const { accountId, call, must, follow } = await setUp()
    const webhook = { url: 'http://127.0.0.1:8099/x', events: ['delivered'], type: 'transactional' }
    const { body, text } = await call('POST', '/v3/webhooks', webhook)
    assert.ok(body.id, text)
    const about = { accountId, code: 'webhook_disabled', subject: String(body.id) } as const
    await raiseNotice(db, { ...about, message: 'Switched off.', details: { webhook_id: body.id } }, clock.now)
    const finding = await must('webhook_disabled')
    assert.equal(finding.evidence.webhook_id, body.id)
    await follow(finding.code, finding)
  })

  test('transport_capture, queue_stuck and messages_held say who has to act', async () => {
    const captured = await makeDomainApp()
    const { body } = await captured.call('GET', '/api/v1/deliverability/diagnose')
    assert.deepEqual(
      body.findings.map((one: Finding) => [one.code, one.severity, one.action]),
      [['transport_capture', 'warning', null]],
    )
    assert.equal(body.verdict, 'attention')
    const { accountId, call, find, must } = await setUp()
    const message = { from: 'a@shop.example', to: 'ann@example.org', subject: 'Hi', text: 'Hi.' }
    await call('POST', '/api/v1/transactional/send', message)
    assert.equal(await find('queue_stuck'), undefined)
    await db.run(sql`
      update delivery_queue
         set due_at = ${clock.now}::timestamptz - interval '20 minutes'
       where account_id = ${accountId}`)
    const stuck = await must('queue_stuck')
    assert.deepEqual([stuck.severity, stuck.evidence.late_s], ['critical', 1_200])
    assert.equal((await call('GET', stuck.proof.path)).status, 200)
    await db.run(sql`
      update messages set status = 'held', held_reason = 'The upstream is full.' where account_id = ${accountId}`)
    const held = await must('messages_held')
    assert.deepEqual(held.evidence, { held: 1, reason: 'The upstream is full.' })
    assert.equal((await call('GET', held.proof.path)).body.data.length, 1)
  })
})

test('transport_failing: an upstream that takes nothing is told, at first as a warning', async () => {
  const { call, find, must } = await setUp()
  const said = 'cannot connect to relay.example:587'
  const state = (failing: boolean, minutesAgo: number) =>
    keepUpstreamState(db, 'smtp', {
      failing,
      since: new Date(clock.now.getTime() - minutesAgo * 60_000),
      said: failing ? said : null,
    })
  await state(true, 5)
  const begun = await must('transport_failing')
  assert.deepEqual([begun.severity, begun.evidence.for_s, begun.evidence.said], ['warning', 300, said])
  await state(false, 4)
  assert.equal(await find('transport_failing'), undefined)
  await state(true, 40)
  const lasting = await must('transport_failing')
  assert.deepEqual([lasting.severity, lasting.evidence.transport, lasting.action], ['critical', 'smtp', null])
  assert.match(
    lasting.message,
    /^For 40 minutes the smtp transport .*: cannot connect to relay\.example:587$/,
  )
  const proof = await call('GET', lasting.proof.path)
  assert.deepEqual([proof.status, proof.body.transport.state], [200, 'failing'])
  await state(false, 0)
})

describe('the whole', () => {
  test('an account where all is well is good', async () => {
    const { key, call, diagnose } = await setUp()
    await verified('well.example', key)
    const settings = {
      default_sender: { email: 'a@well.example' },
      click_tracking: false,
      open_tracking: 'off',
    }
    await call('PUT', '/api/v1/settings', settings)
    const { verdict, findings, window_days } = await diagnose()
    assert.deepEqual([verdict, findings, window_days], ['good', [], 30])
  })

  test('a domain that is not declared is 404 with the way out; another account’s is not either', async () => {
    const [one, two] = [await setUp(), await setUp()]
    await verified('theirs.example', two.key)
    const reply = await one.call('GET', '/api/v1/deliverability/diagnose?domain=theirs.example')
    assert.deepEqual([reply.status, reply.body.error.action.operation], [404, 'domain.declare'])
    assert.equal((await two.call('GET', '/api/v1/deliverability/diagnose?domain=THEIRS.example')).status, 200)
    for (const domain of ['', 'nonsense', 'a%00b.example', 'x'.repeat(300)])
      assert.equal(
        (await one.call('GET', `/api/v1/deliverability/diagnose?domain=${domain}`)).status,
        422,
        domain,
      )
  })

  test('says which requests the calling key may send', async () => {
    const { accountId, key } = await setUp()
    await app.declare('scoped.example', key)
    const { key: narrow } = await app.makeKey({ scopes: ['analytics.read', 'domain.read'] }, accountId)
    const { body } = await app.call('GET', '/api/v1/deliverability/diagnose', { key: narrow })
    const { action, proof } = body.findings.find((one: Finding) => one.code === 'domain_not_verified')
    assert.deepEqual([action.scope, action.allowed, proof.allowed], ['domain.write', false, true])
  })

  test('a new account is led to its first delivered message', async () => {
    const fresh = await makeDomainApp({ deliver: true })
    const steps = async () => (await fresh.call('GET', '/api/v1/deliverability/diagnose')).body.first_steps
    const codes = ['declare_domain', 'publish_records', 'verify_domain', 'set_default_sender', 'send_test']
    assert.deepEqual(
      (await steps()).map(({ step, code, done }: Body) => [step, code, done]),
      [...codes, 'see_it_delivered'].map((code, i) => [i + 1, code, false]),
    )
    for (const code of codes) {
      const found = (await steps()).find((one: Body) => one.code === code)
      const { action, proof } = found
      const reply = await fresh.call(action.method, action.path, { body: action.body })
      assert.ok(reply.status < 300, `${code} ${reply.text}`)
      if (code === 'publish_records') fresh.publish(reply.body.records)
      assert.equal((await fresh.call(proof.method, proof.path, { body: proof.body })).status, 200, code)
    }
    await until(async () => (await steps()).length === 0, 'the first message to be delivered')
  })
})
