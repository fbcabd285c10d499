import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { addContact, addEvent, addMessage, base, call, create, put, shop } from './fixtures/campaigns.ts'

async function sentTo(name: string) {
  const made = await shop([name])
  const { accountId, key, listId } = made
  const id = await create(key, { recipients: { listIds: [listId] } })
  await put(id, 'sent')
  const message = await addMessage({ accountId, id, name, status: 'delivered', listId })
  const event = (type: string, data?: object) => addEvent(accountId, message, type, data)
  return { ...made, id, event, stats: `/v3/contacts/${name}@example.com/campaignStats` }
}

const eventTime = '2026-11-01T11:00:00.000Z'
const dates = 'startDate=2026-10-20&endDate=2026-11-10'

describe('what campaigns did with a contact', () => {
  test('is told by campaign, with only what there is', async () => {
    const { key, id, event, stats } = await sentTo('anna')
    const [other, url] = [{ classification: 'robot' }, 'https://shop.example/a']
    const told = async () => (await call(key, 'GET', `${stats}?${dates}`)).body
    assert.deepEqual(await told(), {})
    for (const type of ['sent', 'delivery']) await event(type)
    for (let i = 0; i < 2; i++) await event('open', { classification: 'human', ip: '192.0.2.1' })
    await event('open', other)
    await event('click', { ...other, url })
    await event('click', { classification: 'human', url, ip: '192.0.2.1' })
    await event('unsubscribe', { scope: 'all' })
    const at = { campaignId: id, eventTime }
    const seen = { eventTime, ip: '192.0.2.1' }
    const expected = {
      messagesSent: [at],
      delivered: [at],
      opened: [{ campaignId: id, count: 2, ...seen }],
      clicked: [{ campaignId: id, links: [{ url, count: 1, ...seen }] }],
      unsubscriptions: { userUnsubscription: [at], adminUnsubscription: [] },
    }
    assert.deepEqual(await told(), expected)
    const whole = await call(key, 'GET', `/v3/contacts/anna@example.com?${dates}`)
    assert.deepEqual(whole.body.statistics, expected)
  })

  test('an open of which no address is told has an empty one', async () => {
    const { key, event, stats } = await sentTo('eve')
    await event('open', { classification: 'human' })
    assert.equal((await call(key, 'GET', `${stats}?${dates}`)).body.opened[0].ip, '')
  })

  test('bounces and complaints too; nothing outside the dates, nothing of another account', async () => {
    const one = await sentTo('bob')
    const other = await sentTo('bob')
    await one.event('bounce', { bounce_type: 'hard' })
    await one.event('complaint')
    const { body } = await call(one.key, 'GET', `${one.stats}?${dates}`)
    assert.deepEqual(Object.keys(body), ['hardBounces', 'complaints'])
    assert.deepEqual((await call(other.key, 'GET', `${other.stats}?${dates}`)).body, {})
    const before = `${one.stats}?startDate=2026-10-01&endDate=2026-10-10`
    assert.deepEqual((await call(one.key, 'GET', before)).body, {})
  })

  test('belongs to the contact, whatever its address is by now', async () => {
    const { accountId, key, listId, id, event } = await sentTo('vera')
    await event('sent')
    const numberOf = async (name: string) =>
      (await call(key, 'GET', `/v3/contacts/${name}@example.com`)).body.id as number
    const movesTo = (contact: number, name: string) =>
      call(key, 'PUT', `/v3/contacts/${contact}`, { attributes: { EMAIL: `${name}@example.com` } })
    const sentBy = async (contact: number) => {
      const { body } = await call(key, 'GET', `/v3/contacts/${contact}/campaignStats?${dates}`)
      const whole = await call(key, 'GET', `/v3/contacts/${contact}?${dates}`)
      assert.deepEqual(whole.body.statistics, body)
      const ids: number[] = (body.messagesSent ?? []).map((one: { campaignId: number }) => one.campaignId)
      return ids.sort((a, b) => a - b)
    }
    const vera = await numberOf('vera')
    assert.equal((await movesTo(vera, 'vera-new')).status, 204)
    await addContact(key, listId, 'vera')
    const other = await numberOf('vera')
    assert.deepEqual([await sentBy(vera), await sentBy(other)], [[id], []])

    const later = await create(key, { recipients: { listIds: [listId] } })
    await put(later, 'sent')
    const sentLater = async (name: string) => {
      const message = { accountId, id: later, name, status: 'sent', at: new Date().toISOString() }
      await addEvent(accountId, await addMessage(message), 'sent')
    }
    await sentLater('vera')
    assert.deepEqual([await sentBy(vera), await sentBy(other)], [[id], [later]])
    await sentLater('vera-new')
    assert.deepEqual([await sentBy(vera), await sentBy(other)], [[id, later], [later]])

    const whose = async (campaign: number) => {
      const { body } = await call(key, 'GET', `${base}/${campaign}/recipients?sort=asc`)
      return body.recipients.map(({ contactId }: { contactId: number }) => contactId)
    }
    assert.deepEqual([await whose(id), await whose(later)], [[vera], [other, vera]])
    await movesTo(other, 'vera-else')
    await movesTo(vera, 'vera')
    assert.deepEqual([await whose(id), await whose(later)], [[vera], [other, vera]])
    assert.deepEqual([await sentBy(vera), await sentBy(other)], [[id, later], [later]])
  })

  test('tells who was unsubscribed by the account, and not by themselves', async () => {
    const { key } = await shop(['dina'])
    const told = async () =>
      (await call(key, 'GET', '/v3/contacts/dina@example.com')).body.statistics.unsubscriptions
    const blacklisted = (emailBlacklisted: boolean) =>
      call(key, 'PUT', '/v3/contacts/dina@example.com', { emailBlacklisted })
    assert.equal(await told(), undefined)
    for (const on of [true, true, false, true]) assert.equal((await blacklisted(on)).status, 204)
    const { body } = await call(key, 'GET', '/v3/contacts/dina@example.com/history')
    const times = body.history
      .filter(({ newValue }: { newValue: unknown }) => newValue === 'unsubscribed')
      .map(({ changedAt }: { changedAt: string }) => ({ eventTime: changedAt }))
    assert.equal(times.length, 2)
    assert.deepEqual(await told(), { userUnsubscription: [], adminUnsubscription: times })
    const years = 'startDate=2020-01-01&endDate=2021-01-01'
    const before = await call(key, 'GET', `/v3/contacts/dina@example.com/campaignStats?${years}`)
    assert.deepEqual(before.body, {})
  })

  test('bad dates and unknown contacts are refused', async () => {
    const { key, stats } = await sentTo('cleo')
    assert.equal((await call(key, 'GET', `${stats}?startDate=2026-10-01`)).status, 400)
    assert.equal((await call(key, 'GET', `${stats}?startDate=2020-01-01&endDate=2026-10-01`)).status, 400)
    assert.equal((await call(key, 'GET', '/v3/contacts/nobody@example.com/campaignStats')).status, 404)
  })
})
