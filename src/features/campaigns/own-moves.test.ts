import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from '../../kernel/sql.ts'
import { addMessage, app, base, call, create, db, put, shop, shown } from './fixtures/campaigns.ts'
import { jobsOf } from './sending/fixtures/campaigns.ts'

const own = '/api/v1/campaigns'
const inAnHour = new Date(Date.now() + 3_600_000).toISOString()

async function scheduled() {
  const made = await shop()
  const id = await create(made.key, { recipients: { listIds: [made.listId] }, scheduledAt: inAnHour })
  const post = (path: string, body?: object) => call(made.key, 'POST', `${own}/${id}/${path}`, body)
  const is = async (status: string) => assert.equal((await shown(made.key, id)).status, status)
  return { ...made, id, post, is }
}

test('campaign.send without a confirmation foretells a time that is over and a cap too small', async () => {
  const { key, id, accountId } = await scheduled()
  const send = async (by: string, body: object) =>
    (await call(by, 'POST', `${own}/send`, { campaign_id: id, ...body })).body.error
  for (const confirm of [undefined, true]) {
    const over = await send(key, { scheduled_at: '2020-01-01T00:00:00Z', confirm })
    assert.deepEqual([over.code, over.param], ['invalid_parameter', 'scheduled_at'])
  }
  const { key: capped } = await app.makeKey({ dailyCap: 1 }, accountId)
  const asked = await send(capped, { scheduled_at: inAnHour })
  assert.deepEqual([asked.code, asked.details[1].code], ['confirmation_required', 'daily_cap_reached'])
  assert.match(asked.message, /but it would be refused/)
  const refused = await send(capped, { scheduled_at: inAnHour, confirm: true })
  assert.equal(refused.code, 'daily_cap_reached')
})

test('campaign.send tells of all that is wrong with a campaign given with the call', async () => {
  const { key } = await shop()
  const asked = {
    from: 'shop@example.com',
    subject: '{% if',
    html: '<p>{{ x',
    list_id: 2 ** 40,
    confirm: true,
  }
  const told = async (body: object) => {
    const { status, body: refused } = await call(key, 'POST', `${own}/send`, { ...asked, ...body })
    assert.equal(status, 422)
    return refused.error.details.map(({ code, param }: Record<string, string>) => `${param} ${code}`)
  }
  const all = ['html template_invalid', 'subject template_invalid', 'list_id invalid_parameter']
  const over = { scheduled_at: '2020-01-01T00:00:00Z' }
  assert.deepEqual(await told(over), [...all, 'scheduled_at invalid_parameter'])
  assert.deepEqual(await told({ colour: 1 }), ['colour unknown_parameter', ...all])
  assert.deepEqual(await told({ html: undefined, template_id: 2 ** 40 }), [
    'template_id invalid_parameter',
    'subject template_invalid',
    'list_id invalid_parameter',
  ])
})

describe('the list of campaigns', () => {
  test('tells the newest first, by status and page by page, and nobody else’s', async () => {
    const { key, id, accountId } = await scheduled()
    const other = await scheduled()
    const draft = await create(key, { name: 'Later', subject: 'Soon' })
    const list = async (search = '', of = key) => (await call(of, 'GET', `${own}${search}`)).body
    const all = await list()
    assert.deepEqual([all.data[0].id, all.data[1].id, all.data.length, all.next_cursor], [draft, id, 2, null])
    const { created_at, ...row } = all.data[0]
    assert.ok(Date.parse(created_at))
    const figures = { recipients: 0, sent: 0, delivered: 0 }
    const facts = { id: draft, name: 'Later', status: 'draft', subject: 'Soon', scheduled_at: null }
    assert.deepEqual(row, { ...facts, ...figures, held_reason: null })
    const { data: queued } = await list('?status=queued')
    assert.deepEqual([queued.length, queued[0].id, queued[0].scheduled_at], [1, id, inAnHour])
    const first = await list('?limit=1')
    const second = await list(`?limit=1&cursor=${first.next_cursor}`)
    assert.deepEqual([first.data[0].id, second.data[0].id, second.next_cursor], [draft, id, null])
    assert.equal((await list(`?status=queued&cursor=${first.next_cursor}`)).error.code, 'invalid_parameter')
    assert.equal((await list('?status=nonsense')).error.param, 'status')
    assert.deepEqual(
      (await list('', other.key)).data.map((one: { id: number }) => one.id),
      [other.id],
    )
    await addMessage({ accountId, id, name: 'anna', status: 'sent' })
    await addCounts(accountId, id)
    const [counted] = (await list('?status=queued')).data
    const stats = (await call(key, 'GET', `${own}/${id}/stats`)).body
    assert.deepEqual([counted.sent, counted.delivered], [stats.sent, stats.delivered])
    assert.deepEqual([counted.sent, counted.delivered], [3, 2])
  })
})

test('the list of campaigns tells why one was interrupted, and the first subject of an A/B test', async () => {
  const { key, listId } = await shop()
  const ab = { abTesting: true, subjectA: 'One', subjectB: 'Two', splitRule: 50, subject: undefined }
  const id = await create(key, { ...ab, recipients: { listIds: [listId] } })
  assert.equal((await call(key, 'POST', `${base}/${id}/sendNow`, { confirm: true })).status, 204)
  await call(key, 'DELETE', `/v3/contacts/lists/${listId}`)
  await jobsOf(db)('freeze')
  const [row] = (await call(key, 'GET', `${own}?status=suspended`)).body.data
  assert.deepEqual([row.id, row.subject], [id, 'One'])
  assert.equal(row.held_reason, (await shown(key, id)).heldReason)
  assert.match(row.held_reason, new RegExp(`list ${listId}`))
  const { error } = (await call(key, 'POST', `${own}/${id}/resume`)).body
  assert.deepEqual([error.code, error.param], ['invalid_parameter', 'id'])
})

async function addCounts(accountId: string, id: number): Promise<void> {
  for (const [name, n] of [
    ['sent', 3],
    ['delivered', 2],
  ] as const)
    await app.pools.db.run(sql`
      insert into message_count_changes (account_id, day, campaign_id, list_id, tag, consent_source, name, n)
      values (${accountId}, '2026-11-01', ${id}, 0, '', '', ${name}, ${n})`)
}

test('campaign.send takes as little content as any message; the provider’s bound holds for its namespace', async () => {
  const { key, listId } = await shop()
  const html = '<p>Hi</p>'
  const inline = { subject: 'Hi', from: 'a@shop.example', html, list_id: listId, confirm: true }
  const sent = await call(key, 'POST', `${own}/send`, inline)
  assert.equal(sent.status, 202, sent.text)
  const refused = await call(key, 'POST', base, { name: 'N', subject: 'Hi', htmlContent: html })
  assert.match(refused.body.message, /more than 10 and/)
  const long = await call(key, 'POST', `${own}/send`, { ...inline, subject: 'x'.repeat(300) })
  assert.equal(long.status, 202, long.text)
})

describe('the moves of the own namespace', () => {
  test('interrupt, go on and end for good, and answer the same when they are repeated', async () => {
    const { id, post, is } = await scheduled()
    for (const turn of [1, 2]) {
      const paused = await post('pause')
      assert.deepEqual(
        [paused.status, paused.body],
        [200, { campaign_id: id, status: 'suspended' }],
        `${turn}`,
      )
    }
    for (const _turn of [1, 2])
      assert.deepEqual((await post('resume')).body, { campaign_id: id, status: 'queued' })
    await put(id, 'in_process')
    assert.equal((await post('resume')).body.status, 'in_process')
    for (const body of [{}, { confirm: false }]) {
      const { status, body: refused } = await post('cancel', body)
      assert.deepEqual([status, refused.error.code], [422, 'confirmation_required'])
      assert.match(refused.error.message, /is in_process/)
    }
    await is('in_process')
    for (const _turn of [1, 2])
      assert.deepEqual((await post('cancel', { confirm: true })).body, {
        campaign_id: id,
        status: 'cancelled',
      })
    await is('cancelled')
  })

  test('say which state stands in the way', async () => {
    const { id, post, is } = await scheduled()
    for (const [state, refused] of [
      ['draft', ['pause', 'resume']],
      ['sent', ['pause', 'resume', 'cancel']],
      ['cancelled', ['pause', 'resume']],
      ['archive', ['pause', 'resume', 'cancel']],
    ] as const) {
      await put(id, state)
      for (const move of refused) {
        const { status, body } = await post(move, move === 'cancel' ? {} : undefined)
        assert.deepEqual([status, body.error.code, body.error.retryable], [409, 'conflict', false])
        assert.equal(body.error.param, 'id')
        assert.match(body.error.message, new RegExp(`is ${state} and cannot be`))
        assert.match(body.error.hint, /campaign\.list/)
        assert.doesNotMatch(body.error.hint, /\/v3\//)
      }
      await is(state)
    }
  })

  test('know the campaigns of the account only, and share their name with the other face', async () => {
    const [mine, theirs] = [await scheduled(), await scheduled()]
    for (const move of ['pause', 'resume', 'cancel']) {
      const body = move === 'cancel' ? { confirm: true } : undefined
      for (const id of [theirs.id, 999_999_999]) {
        const reply = await call(mine.key, 'POST', `${own}/${id}/${move}`, body)
        assert.deepEqual([reply.status, reply.body.error.param], [404, 'id'])
      }
    }
    await theirs.is('queued')
    await mine.post('pause')
    await call(mine.key, 'POST', `${base}/${mine.id}/resume`)
    const { body } = await call(mine.key, 'GET', '/api/v1/audit-logs?limit=5')
    const names = body.data.map(({ operation }: { operation: string }) => operation)
    assert.ok(names.includes('campaign.pause') && names.includes('campaign.resume'))
  })

  test('let a key of other sender domains stop, and not go on', async () => {
    const { accountId, id, is } = await scheduled()
    const bound = await app.makeKey({ senderDomains: ['other.example'] }, accountId)
    assert.equal((await call(bound.key, 'POST', `${own}/${id}/pause`)).status, 200)
    const refused = await call(bound.key, 'POST', `${own}/${id}/resume`)
    assert.deepEqual([refused.status, refused.body.error.code], [403, 'sender_domain_not_allowed'])
    await is('suspended')
    const reader = await app.makeKey({ scopes: ['analytics.read'] }, accountId)
    assert.equal((await call(reader.key, 'POST', `${own}/${id}/cancel`, { confirm: true })).status, 403)
    assert.equal((await call(bound.key, 'POST', `${own}/${id}/cancel`, { confirm: true })).status, 200)
    await is('cancelled')
  })
})
