import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeApp } from '../../../test/app.ts'

const app = await makeApp()

const send = (to: string, key: string) => {
  const body = { from: 'shop@example.com', to, subject: 'Hello', text: 'Hello' }
  return app.call('POST', '/api/v1/transactional/send', { key, body })
}
const erase = (email: string, key: string) =>
  app.call('POST', '/api/v1/contacts/erase', { key, body: { email, confirm: true } })

describe('the action log', () => {
  test('tells a person what is about them and not what is about others', async () => {
    const { key } = await app.makeAccount()
    await app.call('PUT', '/api/v1/settings', { key, body: { outreach_enabled: true } })
    const prospects = [
      { email: 'ida@example.com', firstName: 'Ida' },
      { email: 'carl@example.com', firstName: 'Carl', company: 'Secret Ltd' },
    ]
    assert.equal((await app.call('POST', '/v3/outreach/prospects', { key, body: { prospects } })).status, 201)
    const { body } = await app.call('GET', '/api/v1/contacts/export?email=ida@example.com', { key })
    const [line] = body.action_log
    assert.deepEqual(line.params, { prospects: [prospects[0]] })
    assert.doesNotMatch(JSON.stringify(body), /carl|Secret/)
  })

  test('forgets the names and attributes of an erased person, and keeps those of others', async () => {
    const { key } = await app.makeAccount()
    await app.call('PUT', '/api/v1/settings', { key, body: { outreach_enabled: true } })
    const attributes = { FIRSTNAME: 'Zelda', LASTNAME: 'Quux', SMS: '+33612345699' }
    const made = await app.call('POST', '/v3/contacts', {
      key,
      body: { email: 'zelda@example.com', attributes },
    })
    const change = { attributes: { LASTNAME: 'Wibble' } }
    await app.call('PUT', `/v3/contacts/${made.body.id}`, { key, body: change })
    const prospects = [
      { email: 'zelda@example.com', lastName: 'Quux', company: 'QuuxCo' },
      { email: 'otto@example.com', lastName: 'Other' },
    ]
    await app.call('POST', '/v3/outreach/prospects', { key, body: { prospects } })
    await send('Zelda Quux <zelda@example.com>', key)
    const sms = { sender: 'Shop', recipient: '+33612345699', content: 'Hello' }
    await app.call('POST', '/v3/transactionalSMS/sms', { key, body: sms })
    await erase('zelda@example.com', key)
    const { body } = await app.call('GET', '/api/v1/audit-logs?limit=200', { key })
    const kept = JSON.stringify(body.data)
    assert.doesNotMatch(kept, /zelda|quux|wibble|612345699/i)
    assert.match(kept, /otto@example\.com.*Other/)
  })

  test('knows a person by the identifier that the customer gave them', async () => {
    const { key } = await app.makeAccount()
    const call = (method: string, path: string, body?: object) => app.call(method, path, { key, body })
    const named = (name: string) => ({ attributes: { LASTNAME: name } })
    await call('POST', '/v3/contacts', { email: 'ext@example.com', ext_id: '7' })
    for (let i = 0; i < 7; i++)
      await call('POST', '/v3/contacts', { email: `o${i}@example.com`, ext_id: `o${i}` })
    const byExtId = '?identifierType=ext_id'
    await call('PUT', `/v3/contacts/7${byExtId}`, named('Wibble'))
    await call('PUT', `/v3/contacts/o1${byExtId}`, named('Other'))
    await call('PUT', '/v3/contacts/7', named('Seventh'))
    await call('POST', '/v3/contacts', { ext_id: '7', updateEnabled: true, ...named('Wobble') })
    const told = await call('GET', '/api/v1/contacts/export?email=ext@example.com')
    const held = JSON.stringify(told.body.action_log)
    assert.match(held, /Wibble.*Wobble/)
    assert.doesNotMatch(held, /Other|Seventh/)
    const erased = await call('POST', '/api/v1/contacts/erase', { email: 'ext@example.com', confirm: true })
    assert.equal(erased.status, 200)
    const { body } = await app.call('GET', '/api/v1/audit-logs?limit=200', { key })
    const kept = JSON.stringify(body.data)
    assert.doesNotMatch(kept, /Wibble|Wobble/)
    assert.match(kept, /Other/)
    assert.match(kept, /Seventh/)
  })

  test('knows a person by either form of an international domain', async () => {
    const { key } = await app.makeAccount()
    const written = ['Idna@MÜLLER.example', 'idna@mu\u0308ller.example', 'idna@xn--mller-kva.example']
    const attributes = { FIRSTNAME: 'Zqx' }
    for (const email of written)
      await app.call('POST', '/v3/contacts', { key, body: { email, attributes, updateEnabled: true } })
    await send(`Zqx <${written[0]}>`, key)
    await send('other.idna@müller.example', key)
    const told = await app.call('GET', `/api/v1/contacts/export?email=${written[2]}`, { key })
    assert.equal(told.body.action_log.length, 4)
    assert.equal((await erase(written[1] ?? '', key)).body.erased.action_log, 5)
    const { body } = await app.call('GET', '/api/v1/audit-logs?limit=200', { key })
    const kept = JSON.stringify(body.data)
    assert.doesNotMatch(kept, /(?<!other\.)idna|zqx/i)
    assert.match(kept, /other\.idna@müller\.example/)
  })
})
