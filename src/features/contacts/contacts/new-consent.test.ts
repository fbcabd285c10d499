import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'

const app = await makeApp()
const email = 'ann@example.com'
const path = `/v3/contacts/${email}`

async function put(body: object): Promise<void> {
  assert.equal((await app.call('PUT', path, { body })).status, 204)
}

async function shown() {
  const { body } = await app.call('GET', path)
  return [body.consentSource, body.consent_ip, body.consent_text]
}

test('a consent of another day takes the place of the one before whole: its words prove nothing of it', async () => {
  const first = { consentSource: 'shop', consent_ip: '192.0.2.7', consent_text: 'I agree.' }
  await app.call('POST', '/v3/contacts', { body: { email, consentDate: '2026-11-05', ...first } })
  await put({ consentDate: '05/11/2026' })
  assert.deepEqual(await shown(), Object.values(first))
  await put({ consentDate: '2026-11-06', consentSource: 'fair' })
  assert.deepEqual(await shown(), ['fair', null, null])
  await put({ consent_text: 'Yes.' })
  await put({ consentDate: '2026-11-07' })
  assert.deepEqual(await shown(), [null, null, null])
})

test('a date may come after the rest', async () => {
  const contact = { email: 'bo@example.com', consentSource: 'shop', consent_text: 'I agree.' }
  await app.call('POST', '/v3/contacts', { body: contact })
  await app.call('PUT', '/v3/contacts/bo@example.com', { body: { consentDate: '2026-11-05' } })
  const { body } = await app.call('GET', '/v3/contacts/bo@example.com')
  assert.deepEqual([body.consentSource, body.consent_text], ['shop', 'I agree.'])
})
