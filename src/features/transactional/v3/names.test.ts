import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'
import { until } from '../../../../test/until.ts'

const app = await makeApp({ deliver: true, env: { POSTHORN_RATE_LIMIT_FACTOR: '100' } })

const stored = {
  templateName: 'Named',
  subject: 'Hello',
  sender: { name: 'Tpl {{params.N}}', email: 'shop@example.com' },
  htmlContent: '<p>Dear reader</p>',
  toField: '{{contact.FIRSTNAME}} {{contact.LASTNAME}}',
  isActive: true,
}

async function make(changes: object = {}): Promise<number> {
  const { status, body, text } = await app.call('POST', '/v3/smtp/templates', {
    body: { ...stored, ...changes },
  })
  assert.equal(status, 201, text)
  return body.id
}

const send = (body: object) => app.call('POST', '/v3/smtp/email', { body })

async function headOf(email: string) {
  const { id } = await until(
    async () => (await app.call('GET', `/api/v1/sandbox/messages?to=${email}`)).body.data[0],
    `mail to ${email}`,
  )
  const { text } = await app.call('GET', `/api/v1/sandbox/messages/${id}/raw`)
  const field = (name: string) => new RegExp(`^${name}: (.*)\\r$`, 'm').exec(text)?.[1]
  return [field('From'), field('To')]
}

async function contact(email: string): Promise<void> {
  const attributes = { FIRSTNAME: 'Ada\n', LASTNAME: 'Byron' }
  assert.equal((await app.call('POST', '/v3/contacts', { body: { email, attributes } })).status, 201)
}

describe('the names of a send', () => {
  test('are those of the template, rendered', async () => {
    await contact('ada@example.com')
    const sent = { templateId: await make(), params: { N: 'x\r\n\u2028y' } }
    assert.equal((await send({ ...sent, to: [{ email: 'ada@example.com' }] })).status, 201)
    assert.deepEqual(await headOf('ada@example.com'), [
      'Tpl x y <shop@example.com>',
      'Ada Byron <ada@example.com>',
    ])
  })

  test('in the older words too, for the one that the content speaks to', async () => {
    await contact('first@example.com')
    const to = [{ email: 'first@example.com' }, { email: 'second@example.com' }]
    assert.equal((await send({ templateId: await make({ toField: '{FNAME}' }), to })).status, 201)
    for (const email of ['first@example.com', 'second@example.com']) {
      const [from, shown] = await headOf(email)
      assert.deepEqual(
        [from, shown],
        ['Tpl <shop@example.com>', 'Ada <first@example.com>, second@example.com'],
      )
    }
  })

  test('are those of the request where it gives them, and none where nothing is left', async () => {
    await contact('given@example.com')
    const templateId = await make()
    const sender = { email: 'other@example.com', name: '{{ params.N }} shop' }
    const to = [{ email: 'given@example.com', name: 'Given' }]
    assert.equal((await send({ templateId, sender, to, params: { N: 'My' } })).status, 201)
    const named = ['My shop <other@example.com>', 'Given <given@example.com>']
    assert.deepEqual(await headOf('given@example.com'), named)
    const plain = { sender: { ...sender, name: '{{ params.N }}' }, subject: 'Hello', textContent: 'Hi' }
    assert.equal((await send({ ...plain, to: [{ email: 'plain@example.com' }] })).status, 201)
    assert.deepEqual(await headOf('plain@example.com'), ['other@example.com', 'plain@example.com'])
    const stranger = [{ email: 'stranger@example.com' }]
    assert.equal((await send({ templateId, to: stranger, params: { N: 'x' } })).status, 201)
    assert.deepEqual(await headOf('stranger@example.com'), [
      'Tpl x <shop@example.com>',
      'stranger@example.com',
    ])
  })

  test('are the same where a client wrote them as encoded words', async () => {
    const from = (sender: string, to: string, email: string) =>
      send({
        sender: { email: 'shop@example.com', name: sender },
        replyTo: { email: 'help@example.com', name: sender },
        to: [{ email, name: to }],
        subject: 'Hello',
        textContent: 'Hi',
      })
    const plain = ['Opération, SARL', 'Émile, Jr.'] as const
    const encoded = ['=?utf-8?q?Op=C3=A9ration=2C_SARL?=', '=?utf-8?b?w4ltaWxlLCBKci4=?='] as const
    assert.equal((await from(...plain, 'plain-words@example.com')).status, 201)
    assert.equal((await from(...encoded, 'encoded-words@example.com')).status, 201)
    const expected = await headOf('plain-words@example.com')
    const got = await headOf('encoded-words@example.com')
    assert.deepEqual(
      got,
      expected.map((field) => field?.replace('plain-words', 'encoded-words')),
    )
    for (const name of [
      '=?utf-8?q?A=0D=0ABcc:_x?=',
      '=?nothing?q?A?=',
      '=?utf-8?b?*?=',
      '=?',
      '=?utf-8?q?=FF?=',
    ])
      assert.equal((await from(name, name, 'odd-words@example.com')).status, 201, name)
    await headOf('odd-words@example.com')
    const { body } = await app.call('GET', '/api/v1/sandbox/messages?to=odd-words@example.com')
    const names = body.data.flatMap(({ headers }: { headers: { name: string }[] }) => headers)
    assert.ok(names.length > 0 && names.every(({ name }: { name: string }) => !/^bcc$/i.test(name)))
  })

  test('are refused where they are no templates', async () => {
    for (const changes of [{ toField: '{{ a' }, { sender: { ...stored.sender, name: '{% if %}' } }]) {
      const reply = await app.call('POST', '/v3/smtp/templates', { body: { ...stored, ...changes } })
      assert.equal(reply.status, 400, reply.text)
    }
    const plain = { subject: 'Hello', textContent: 'Hi', to: [{ email: 'a@example.com' }] }
    const sender = { email: 'shop@example.com', name: '{% nothing %}' }
    assert.match((await send({ ...plain, sender })).body.message, /^sender is not a valid template/)
  })
})
