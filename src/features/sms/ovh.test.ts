// OVH: hand-over, what it refuses, what it reports.
import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { ovhKeys, startOvhSms } from '../../../test/stand-ins/ovh-sms.ts'
import { until } from '../../../test/until.ts'
import { accepted, makeSmsApp, monday } from './fixtures/app.ts'

const clock = { at: monday }
const upstream = await startOvhSms(() => clock.at)
after(() => upstream.close())
const token = 'a-long-enough-token'
const app = await makeSmsApp({
  sms: true,
  now: () => clock.at,
  env: {
    POSTHORN_SMS_TRANSPORT: `ovh://${upstream.service}`,
    OVH_ENDPOINT: upstream.endpoint,
    ...ovhKeys,
    POSTHORN_OVH_HOOK_TOKEN: token,
    POSTHORN_RETRY_FACTOR: '0.001',
  },
})
const { send } = app

const move = (seconds: number) => {
  clock.at = new Date(clock.at.getTime() + seconds * 1000)
}
const tell = (query: Record<string, string>, given = token) =>
  app.call('GET', `/hooks/ovh-sms/${given}?${new URLSearchParams(query)}`, { key: null })

async function sentOne(body: object = {}, key = app.key) {
  const id = accepted(await send(body, key))
  const { upstream_id } = await app.becomes(id, 'sent')
  return { id, upstreamId: upstream_id ?? '' }
}

describe('hand-over', () => {
  test('a transactional SMS goes without the clause of STOP, signed by the clock of OVH', async () => {
    const { upstreamId } = await sentOne({ content: 'Votre code' })
    const job = upstream.jobs.at(-1)
    assert.equal(upstreamId, String(job?.id))
    assert.deepEqual(
      [job?.receivers, job?.sender, job?.message, job?.coding, job?.noStopClause, job?.validityPeriod],
      [['+33612345678'], 'MyShop', 'Votre code', '7bit', true, undefined],
    )
  })

  test('outside GSM-7 it says so', async () => {
    await sentOne({ content: 'Forêt' })
    assert.equal(upstream.jobs.at(-1)?.coding, '8bit')
  })

  test('a marketing one gets the mention of OVH, which is counted, and lives in minutes', async () => {
    clock.at = new Date('2026-11-16T18:57:30.000Z')
    const reply = await send({ type: 'marketing', content: 'a'.repeat(150) })
    assert.equal(reply.body.smsCount, 2)
    await app.becomes(accepted(reply), 'sent')
    const job = upstream.jobs.at(-1)
    assert.deepEqual([job?.message, job?.noStopClause, job?.validityPeriod], ['a'.repeat(150), false, 2])
    clock.at = monday
  })

  test('and is not handed over in the last minute, which OVH cannot be told of', async () => {
    clock.at = new Date('2026-11-16T18:59:30.000Z')
    const count = upstream.jobs.length
    const id = accepted(await send({ type: 'marketing' }))
    assert.match((await app.becomes(id, 'failed')).last_error ?? '', /before 20:00/)
    assert.deepEqual([await app.eventsOf(id), upstream.jobs.length], [['skipped'], count])
    clock.at = monday
  })
})

describe('what it refuses', () => {
  test('a number that it finds wrong is final', async () => {
    upstream.fail('invalid-number')
    const id = accepted(await send())
    await app.becomes(id, 'failed')
    assert.deepEqual(await app.eventsOf(id), ['hard_bounce'])
  })

  test('a request that it finds wrong is final too', async () => {
    upstream.fail({ status: 400, message: 'Sender is not validated' })
    const id = accepted(await send())
    assert.match((await app.becomes(id, 'failed')).last_error ?? '', /HTTP 400, Sender is not validated/)
  })

  for (const status of [402, 403, 429, 500, 503])
    test(`${status} is tried again`, async () => {
      upstream.fail({ status, message: 'Not now' })
      const id = accepted(await send())
      await until(async () => (await app.find(id)).last_error?.includes(`HTTP ${status}`), 'a refusal')
      move(60)
      await app.becomes(id, 'sent')
    })
})

describe('reports', () => {
  const outcomes: [Record<string, string>, string, string[]][] = [
    [{ ptt: '3', description: '4' }, 'sent', ['sent', 'accepted']],
    [{ ptt: '4', description: '1' }, 'delivered', ['sent', 'delivered']],
    [{ ptt: '0', description: '1' }, 'delivered', ['sent', 'delivered']],
    [{ ptt: '23', description: '2' }, 'failed', ['sent', 'hard_bounce']],
    [{ ptt: '24', description: '2' }, 'failed', ['sent', 'soft_bounce']],
    [{ ptt: '28', description: '2' }, 'failed', ['sent', 'rejected']],
    [{ ptt: '1', description: '8' }, 'sent', ['sent']],
    [{ ptt: 'constructor', description: 'x' }, 'sent', ['sent']],
  ]
  for (const [query, status, events] of outcomes)
    test(`ptt ${query.ptt}: ${status}`, async () => {
      const { id, upstreamId } = await sentOne()
      move(1)
      for (const date of ['2026-11-16 12:00:00', '2026-11-16 12:00:01'])
        assert.equal((await tell({ id: upstreamId, date, descriptionDlr: 'Said', ...query })).status, 200)
      assert.equal((await app.find(id)).status, status)
      assert.deepEqual(await app.eventsOf(id), events)
    })

  test('need the secret of the address', async () => {
    const { id, upstreamId } = await sentOne()
    const query = { id: upstreamId, ptt: '4', description: '1' }
    assert.equal((await tell(query, 'a-long-enough-guess')).status, 404)
    assert.equal((await app.find(id)).status, 'sent')
  })

  test('about nobody are passed over', async () => {
    for (const query of [{ id: '1', ptt: '4' }, { id: 'x', ptt: '4' }, { id: '9'.repeat(20), ptt: '4' }, {}])
      assert.equal((await tell(query as Record<string, string>)).status, 200)
  })

  test('STOP takes the number off', async () => {
    const { key } = await app.makeAccount()
    const { id } = await sentOne({ recipient: '+33612345605' }, key)
    move(1)
    assert.equal((await tell({ sender: '+33612345605', message: 'STOP' })).status, 200)
    assert.deepEqual(await app.eventsOf(id), ['sent', 'replied', 'unsubscribed'])
    assert.equal((await send({ recipient: '+33612345605' }, key)).status, 422)
  })

  test('the same STOP later takes it off for who has written since; told again at once it is the same', async () => {
    const recipient = '+33612345607'
    const stop = async (key: string) => {
      const { id } = await sentOne({ recipient }, key)
      for (const _ of [1, 2]) await tell({ sender: recipient, message: 'STOP' })
      assert.deepEqual((await app.eventsOf(id)).sort(), ['replied', 'sent', 'unsubscribed'])
      assert.equal((await send({ recipient }, key)).status, 422)
    }
    await stop((await app.makeAccount()).key)
    move(2 * 86_400)
    await stop((await app.makeAccount()).key)
  })
})
