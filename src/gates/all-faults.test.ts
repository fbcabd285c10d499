// What is wrong with a request is told all at once, whether its schema or the act finds it, and each field once.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeApp } from '../../test/app.ts'

const app = await makeApp({ env: { POSTHORN_RATE_LIMIT_FACTOR: '100' } })

type Detail = { code: string; message: string; param: string }

async function refused(path: string, body: object, method = 'POST') {
  const reply = await app.call(method, `/api/v1${path}`, { body })
  assert.equal(reply.status, 422, reply.text)
  const { code, param, hint, details = [] } = reply.body.error
  const listed = (details as Detail[]).map((one) => `${one.param} ${one.code}`)
  return { code, param, hint, listed, details: details as Detail[] }
}

describe('a send', () => {
  const send = (body: object) => refused('/transactional/send', body)

  test('names all that it lacks', async () => {
    const lacking = ['from missing_parameter', 'html content_missing', 'subject content_missing']
    assert.deepEqual((await send({})).listed, ['to missing_parameter', ...lacking])
    const bad = await send({ to: 'nope' })
    assert.deepEqual([bad.code, bad.param], ['recipient_invalid', 'to'])
    assert.deepEqual(bad.listed, ['to recipient_invalid', ...lacking])
    const fine = await send({ to: 'b@ex.example' })
    assert.deepEqual([fine.code, fine.listed], ['missing_parameter', lacking])
  })

  test('names what the schema refuses together with what the act does', async () => {
    const { code, listed } = await send({
      from: 'x',
      to: 'nope',
      tag: 'bad tag',
      subject: 'a\nb',
      html: 5,
      headers: { Bcc: 'x' },
      attachments: [{ filename: 'a', content: '!' }],
      scheduled_at: '2001-01-01T00:00:00Z',
      colour: 'red',
    })
    assert.equal(code, 'invalid_parameter')
    assert.deepEqual(listed.sort(), [
      'attachments[0].content invalid_parameter',
      'colour unknown_parameter',
      'from invalid_parameter',
      'headers.Bcc invalid_parameter',
      'html invalid_parameter',
      'scheduled_at invalid_parameter',
      'subject invalid_parameter',
      'tag invalid_parameter',
      'to recipient_invalid',
    ])
  })

  test('of nothing is refused', async () => {
    const whole = { from: 'a@example.com', to: 'b@example.com', subject: 'x' }
    for (const content of [{ text: '' }, { html: '' }, { text: '', html: '' }])
      assert.deepEqual((await send({ ...whole, ...content })).listed, ['html content_missing'])
  })

  test('is told in words, not in patterns', async () => {
    const { details } = await send({
      from: 'a@example.com',
      to: 'b@example.com',
      subject: 'a\nb',
      text: 'x',
      tag: 'a b',
      headers: { 'X A': '1' },
    })
    assert.deepEqual(details.map(({ message }) => message).sort(), [
      'A header name has 1 to 126 printable ASCII characters and neither space nor colon.',
      'subject must not contain line breaks or other control characters.',
      'tag must have 1 to 64 letters, digits, underscores, points or hyphens.',
    ])
  })
})

describe('other operations', () => {
  test('name everything as well', async () => {
    const conversion = await refused('/campaigns/conversion', { email: 'nope', amount: 1, currency: 'EURO' })
    assert.deepEqual(conversion.listed, ['email invalid_parameter', 'currency invalid_parameter'])
    const both = await refused('/campaigns/conversion', { email: 'nope', at: 'x', colour: 1 })
    assert.deepEqual(both.listed.sort(), [
      'amount missing_parameter',
      'at invalid_parameter',
      'colour unknown_parameter',
      'email invalid_parameter',
    ])
    const suppression = await refused('/suppressions', { email: 'nope', reason: 'x' })
    assert.deepEqual(suppression.listed, ['reason invalid_parameter', 'email invalid_parameter'])
    const cart = await refused('/automations/abandoned-cart', {
      email: 'nope',
      cart: { id: '1' },
      delay_minutes: -5,
    })
    assert.deepEqual(cart.listed, ['delay_minutes invalid_parameter', 'email recipient_invalid'])
    const campaign = await refused('/campaigns/send', { list_id: 1, tag: 'camp', confirm: true })
    assert.deepEqual(campaign.listed, [
      'html content_missing',
      'subject missing_parameter',
      'from missing_parameter',
      'list_id invalid_parameter',
    ])
    assert.doesNotMatch(campaign.hint, /text/)
    const worse = await refused('/campaigns/send', { tag: 'a b', confirm: 'yes' })
    assert.deepEqual(worse.listed.length, 6)
  })

  test('under /v3 tell the first fault', async () => {
    const { status, body } = await app.call('POST', '/v3/conversions', {
      body: { email: 'nope', amount: 1, currency: 'EURO' },
    })
    assert.deepEqual([status, body.message], [400, 'email must be an email address.'])
  })
})

describe('one bad value', () => {
  const only = async (path: string, body?: object) => {
    const reply = await app.call(body ? 'PUT' : 'GET', `/api/v1${path}`, body ? { body } : {})
    assert.equal(reply.status, 422, reply.text)
    assert.equal(reply.body.error.details.length, 1, reply.text)
    return reply.body.error.message
  }

  test('is one fault with one sentence', async () => {
    assert.equal(
      await only('/suppressions?since=bad'),
      'since must be an ISO 8601 time with a zone, such as 2026-11-15T09:30:00Z or a date such as 2026-11-15.',
    )
    assert.match(await only('/messages?status=a'), /^status must be one of queued, sent/)
    assert.equal(await only('/messages?status=a&status=b'), 'status is given twice.')
    assert.equal(
      await only('/settings', { unsubscribe_url: 'notaurl' }),
      'unsubscribe_url must begin with http:// or https://.',
    )
    assert.equal(
      await only('/settings', { open_tracking: null }),
      'open_tracking must be one of on, consented_only, off.',
    )
  })

  test('an address that is suppressed already is told as it stands', async () => {
    const suppress = () => app.call('POST', '/api/v1/suppressions', { body: { email: 'a@example.com' } })
    const [first, second] = [await suppress(), await suppress()]
    assert.deepEqual([first.status, second.status], [201, 200])
    assert.deepEqual(second.body, first.body)
  })

  test('a day is taken where a time is', async () => {
    assert.equal((await app.call('GET', '/api/v1/audit-logs?since=2030-01-01')).status, 200)
  })
})

test('a name that only says too much of what the path asks for is told from it', async () => {
  const { status, body } = await app.call('GET', '/api/v1/campaigns/4/stats?campaign_id=4')
  assert.deepEqual([status, body.error.message], [422, 'campaign_id is unknown. Did you mean id?'])
})

test('a query parameter that comes twice is told as such, beside the other faults', async () => {
  const { status, body } = await app.call('GET', '/api/v1/messages?limit=1&limit=2&lmit=3')
  assert.equal(status, 422)
  assert.deepEqual(
    body.error.details.map(({ param, message }: { param: string; message: string }) => [param, message]),
    [
      ['limit', 'limit is given twice.'],
      ['lmit', 'lmit is unknown. Did you mean limit?'],
    ],
  )
})
