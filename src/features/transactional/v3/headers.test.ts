import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'
import { until } from '../../../../test/until.ts'

const app = await makeApp({ deliver: true, env: { POSTHORN_RATE_LIMIT_FACTOR: '100' } })

const once = ['List-Unsubscribe', 'List-Id', 'References', 'In-Reply-To', 'Auto-Submitted']
const inTwoSpellings = (name: string) => ({ [name]: '<a@x.example>', [name.toLowerCase()]: '<b@x.example>' })

const plain = { sender: { email: 'shop@example.com' }, subject: 'Hello', textContent: 'Hi' }
const sendV3 = (body: object) => app.call('POST', '/v3/smtp/email', { body: { ...plain, ...body } })

async function rawTo(email: string): Promise<string> {
  const { id } = await until(
    async () => (await app.call('GET', `/api/v1/sandbox/messages?to=${email}`)).body.data[0],
    `mail to ${email}`,
  )
  return (await app.call('GET', `/api/v1/sandbox/messages/${id}/raw`)).text
}

describe('a header that may stand once, given in two spellings', () => {
  test('is refused by the provider’s namespace before anything is accepted', async () => {
    const to = [{ email: 'a@example.com' }]
    for (const name of once) {
      for (const body of [
        { to, headers: inTwoSpellings(name) },
        { messageVersions: [{ to, headers: inTwoSpellings(name) }] },
      ]) {
        const reply = await sendV3(body)
        assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_parameter'], reply.text)
        assert.match(reply.body.message, new RegExp(`^The header ${name} is given twice`))
      }
    }
  })

  test('is refused by the own namespace, and found by its dry run', async () => {
    for (const name of once) {
      const body = { from: 'shop@example.com', to: 'a@example.com', subject: 'Hello', text: 'Hi' }
      const asked = { body: { ...body, headers: inTwoSpellings(name) } }
      const param = `headers.${name.toLowerCase()}`
      const reply = await app.call('POST', '/api/v1/transactional/send', asked)
      const { code, param: named } = reply.body.error
      assert.deepEqual([reply.status, code, named], [422, 'invalid_parameter', param], reply.text)
      const { blocking } = (await app.call('POST', '/api/v1/messages/validate', asked)).body
      assert.ok(blocking.some((one: { param?: string }) => one.param === param))
    }
  })

  test('is the version’s where the whole has another', async () => {
    const headers = { 'List-Unsubscribe': '<https://x.example/u>', 'X-Order': '1' }
    const reply = await sendV3({
      headers,
      messageVersions: [
        { to: [{ email: 'own@example.com' }], headers: { 'list-unsubscribe': '<https://y.example/u>' } },
        { to: [{ email: 'same@example.com' }] },
      ],
    })
    assert.equal(reply.status, 201, reply.text)
    const own = await rawTo('own@example.com')
    assert.deepEqual(own.match(/^list-unsubscribe:.*$/gim), ['List-Unsubscribe: <https://y.example/u>'])
    assert.match(own, /^X-Order: 1\r\n/m)
    assert.match(await rawTo('same@example.com'), /^List-Unsubscribe: <https:\/\/x\.example\/u>\r\n/m)
  })
})

describe('a header with a value around the longest line', () => {
  const lengths = Array.from({ length: 21 }, (_, i) => 980 + i)

  test('is refused by name or delivered, in either namespace', async () => {
    const { key } = await app.makeAccount()
    const sent = new Map<string, string>()
    for (const name of ['X-A', 'X-A-Name-Of-Forty-Characters-In-All-Xxx'])
      for (const length of lengths)
        for (const value of [
          'x'.repeat(length),
          `${'x'.repeat(length / 2)} ${'x'.repeat(length / 2)}`,
          'ü'.repeat(length / 6),
        ]) {
          const to = `l${sent.size}@example.com`
          const own = {
            from: 'shop@example.com',
            to,
            subject: 'Hello',
            text: 'Hi',
            headers: { [name]: value },
          }
          const one = await app.call('POST', '/api/v1/transactional/send', { key, body: own })
          const body = { ...plain, to: [{ email: to }], headers: { [name]: value } }
          const other = await app.call('POST', '/v3/smtp/email', { key, body })
          assert.deepEqual(
            [one.status, other.status],
            one.status === 202 ? [202, 201] : [422, 400],
            other.text,
          )
          const { message } = one.status === 202 ? { message: '' } : one.body.error
          if (message === '') sent.set(to, one.body.id)
          else for (const said of [message, other.body.message]) assert.match(said, /longer than 996 octets/)
        }
    for (const id of sent.values())
      await until(
        async () => (await app.call('GET', `/api/v1/messages/${id}`, { key })).body.status === 'delivered',
        `${id} to be delivered`,
      )
    assert.ok(sent.size > lengths.length)
  })
})

test('the sandbox is of the version that asks for it, and of no other', async () => {
  const { key } = await app.makeAccount()
  const drop = { 'X-Sib-Sandbox': 'drop' }
  const version = (name: string, headers?: object) => ({ to: [{ email: `${name}@example.com` }], headers })
  const sent = async (body: object) => {
    const reply = await app.call('POST', '/v3/smtp/email', { key, body: { ...plain, ...body } })
    assert.deepEqual([reply.status, reply.body.messageIds.length], [201, 2], reply.text)
  }
  await sent({ messageVersions: [version('real'), version('dropped', drop)] })
  await sent({ messageVersions: [version('dropped', drop), version('real2')] })
  await sent({
    headers: drop,
    messageVersions: [version('dropped'), version('real3', { 'x-sib-sandbox': '' })],
  })
  await sent({ headers: drop, messageVersions: [version('dropped'), version('dropped')] })
  const { body } = await app.call('GET', '/api/v1/messages', { key })
  const recipients = body.data.map((one: { to: string }) => one.to).sort()
  assert.deepEqual(recipients, ['real2@example.com', 'real3@example.com', 'real@example.com'])
})
