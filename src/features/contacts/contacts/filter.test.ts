import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'

const app = await makeApp({ env: { POSTHORN_RATE_LIMIT_FACTOR: '100' } })

const call = (method: string, path: string, body?: unknown) =>
  app.call(method, `/v3/contacts${path}`, { body })

test('a filter is by any attribute that a contact has; of several choices all named ones', async () => {
  const options = { type: 'multiple-choice', multiCategoryOptions: ['tea', 'rum', 'gin'] }
  await call('POST', '/attributes/normal/LIKES', options)
  await call('POST', '/attributes/normal/AGE', { type: 'float' })
  const people: Record<string, object> = {
    anna: { LIKES: ['tea', 'rum'], AGE: 30, SMS: '+33612345678' },
    bob: { LIKES: ['tea'], AGE: 31, FIRSTNAME: 'tea' },
    cleo: { LIKES: ['gin', 'rum'], AGE: 30 },
  }
  for (const [name, attributes] of Object.entries(people))
    await call('POST', '', { email: `${name}@example.com`, attributes })
  const found: [string, string[]][] = [
    ['equals(LIKES,"tea")', ['anna', 'bob']],
    ['equals(LIKES,"rum, Tea")', ['anna']],
    ['equals(AGE,"30.0")', ['anna', 'cleo']],
    ['equals(FIRSTNAME,"tea")', ['bob']],
    ['equals(EMAIL," Bob@EXAMPLE.com")', ['bob']],
    ['equals(email,"nobody@example.com")', []],
    ['equals(SMS,"0033 612345678")', ['anna']],
  ]
  for (const [filter, names] of found) {
    const { status, body } = await call('GET', `?sort=asc&filter=${encodeURIComponent(filter)}`)
    assert.equal(status, 200, filter)
    const emails = body.contacts.map(({ email }: { email: string }) => email)
    assert.deepEqual([body.count, emails], [names.length, names.map((name) => `${name}@example.com`)], filter)
  }
})
