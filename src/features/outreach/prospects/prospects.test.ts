// Many prospects in one call: each counts once, and one that is faulty does not keep the others.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mailServer, makeMailbox, makeOutreach, makeProspects, makeSequence } from '../fixtures/outreach.ts'

const outreach = await makeOutreach()

const path = '/v3/outreach/prospects'

test('an address that stands several times is created once, with all that was said of it', async () => {
  const account = await outreach.makeAccount()
  const { status, body } = await account.call('POST', path, {
    prospects: [
      { email: 'Ann@globex.example', firstName: 'Ann', attributes: { role: 'CTO' } },
      { email: 'ann@GLOBEX.example', company: 'Globex', attributes: { city: 'Paris' } },
      { email: 'ANN@globex.example', firstName: 'Anna' },
    ],
  })
  assert.deepEqual([status, body.created, body.updated, body.skipped], [201, 1, 2, 0])
  assert.deepEqual(
    body.results.map(({ outcome }: { outcome: string }) => outcome),
    ['created', 'updated', 'updated'],
  )
  const one = (await account.call('GET', `${path}/${body.results[2].id}`)).body
  assert.deepEqual(
    [one.firstName, one.company, one.attributes],
    ['Anna', 'Globex', { role: 'CTO', city: 'Paris' }],
  )
})

test('one who is given by number and by address is enrolled once', async (t) => {
  const server = await mailServer(t)
  const account = await outreach.makeAccount()
  const [ann] = await makeProspects(account, ['ann@globex.example'])
  const id = await makeSequence(account, [await makeMailbox(account, server.port)])
  const { body } = await account.call('POST', `/v3/outreach/campaigns/${id}/enroll`, {
    prospectIds: [ann, ann],
    emails: ['ann@globex.example'],
  })
  assert.deepEqual(body, { enrolled: 1, skipped: [] })
})

test('entries that cannot be read are skipped with their reasons', async () => {
  const account = await outreach.makeAccount()
  const { status, body } = await account.call('POST', path, {
    prospects: [
      { email: 'ann@globex.example', firstName: 'A'.repeat(300) },
      null,
      'bob@globex.example',
      { email: 'bob@globex.example', firstName: ['Bob'] },
      { email: ['bob@globex.example'] },
      { email: 'bob@globex.example', attributes: [1] },
      { email: 'carl@globex.example', firstName: 7, other: 'x', attributes: [] },
    ],
  })
  assert.deepEqual([status, body.created, body.skipped], [201, 1, 6])
  assert.deepEqual(
    body.results.map((one: { email: string; reason?: string }) => [one.email, one.reason]),
    [
      ['ann@globex.example', 'firstName must have at most 255 characters'],
      ['', 'it is not an object'],
      ['', 'it is not an object'],
      ['bob@globex.example', 'firstName must be text'],
      ['', 'email must be text'],
      ['bob@globex.example', 'attributes must be an object'],
      ['carl@globex.example', undefined],
    ],
  )
  const carl = await account.call('GET', `${path}/${body.results[6].id}`)
  assert.equal(carl.body.firstName, '7')
})

test('what cannot be kept is refused, in words', async () => {
  const account = await outreach.makeAccount()
  const refused = async (body: object, says: RegExp) => {
    const reply = await account.call('POST', path, body)
    assert.equal(reply.status, 400)
    assert.match(reply.body.message, says)
  }
  const prospects = [{ email: 'bob@globex.example' }]
  await refused({ email: 'ann@globex.example', prospects }, /email cannot stand beside prospects/)
  await refused({ firstName: '', company: 'Globex', prospects }, /company cannot stand beside prospects/)
  await refused({ email: 'ann@globex.example', attributes: [1] }, /^attributes must be an object/)
  assert.equal((await account.call('POST', path, { email: '', firstName: null, prospects })).status, 201)
})
