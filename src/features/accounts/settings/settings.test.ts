import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'
import { defaults } from './settings.ts'

const app = await makeApp()

const read = async (key: string) => (await app.call('GET', '/api/v1/settings', { key })).body
const change = (key: string, body: object) => app.call('PUT', '/api/v1/settings', { key, body })

const others = {
  exclude_privacy_proxy_opens: false,
  exclude_robot_activity: false,
  unsubscribe_url: 'https://shop.example/bye',
  open_tracking: 'consented_only',
  click_tracking: false,
  default_sender: { email: 'hello@shop.example', name: 'Shop' },
  require_verified_sender: true,
  provider_compatibility: true,
  outreach_enabled: true,
  timezone: 'America/New_York',
}

test('a fresh account has the documented defaults', async () => {
  const { key } = await app.makeAccount()
  assert.deepEqual(await read(key), {
    exclude_privacy_proxy_opens: true,
    exclude_robot_activity: true,
    unsubscribe_url: null,
    open_tracking: 'on',
    click_tracking: true,
    default_sender: null,
    require_verified_sender: false,
    provider_compatibility: false,
    outreach_enabled: false,
    timezone: 'Europe/Paris',
  })
})

test('any subset may be changed; the answer is the whole', async () => {
  const { key } = await app.makeAccount()
  const reply = await change(key, { click_tracking: false })
  assert.deepEqual([reply.status, reply.body], [200, { ...defaults, click_tracking: false }])
  assert.deepEqual((await change(key, {})).body, reply.body)
  assert.deepEqual((await change(key, others)).body, others)
  assert.deepEqual(await read(key), others)
})

test('a setting can be set back to null', async () => {
  const { key } = await app.makeAccount()
  await change(key, others)
  const { body } = await change(key, { default_sender: null, unsubscribe_url: null })
  assert.deepEqual(body, { ...others, default_sender: null, unsubscribe_url: null })
})

test('a sender is replaced as a whole: an old name does not stay with a new address', async () => {
  const { key } = await app.makeAccount()
  await change(key, { default_sender: { email: 'a@shop.example', name: 'A' } })
  const { body } = await change(key, { default_sender: { email: 'b@shop.example' } })
  assert.deepEqual(body.default_sender, { email: 'b@shop.example' })
})

test('changes of different settings at the same moment all last', async () => {
  const { key } = await app.makeAccount()
  const replies = await Promise.all(
    Object.entries(others).map(([name, value]) => change(key, { [name]: value })),
  )
  assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([200]))
  assert.deepEqual(await read(key), others)
})

test('another account is untouched', async () => {
  const [mine, theirs] = [await app.makeAccount(), await app.makeAccount()]
  await change(mine.key, others)
  assert.deepEqual(await read(theirs.key), defaults)
})

test('one wrong setting refuses the whole change, and every fault is told', async () => {
  const { key } = await app.makeAccount()
  const reply = await change(key, {
    click_tracking: false,
    timezone: 'Mars/Olympus',
    open_tracking: 'sometimes',
    default_sender: { email: 'nobody' },
    unsubscribe_url: 'javascript:alert(1)',
    clik_tracking: true,
  })
  assert.equal(reply.status, 422)
  const params = reply.body.error.details.map((fault: { param: string }) => fault.param).sort()
  assert.deepEqual(
    [...new Set(params)],
    ['clik_tracking', 'default_sender.email', 'open_tracking', 'timezone', 'unsubscribe_url'],
  )
  assert.match(reply.text, /Did you mean click_tracking\?/)
  assert.deepEqual(await read(key), defaults)
})

test('a line break in a sender’s name is refused', async () => {
  const { key } = await app.makeAccount()
  const name = 'Shop\r\nBcc: x@evil.example'
  const reply = await change(key, { default_sender: { email: 'a@shop.example', name } })
  assert.deepEqual([reply.status, reply.body.error.param], [422, 'default_sender.name'])
})
