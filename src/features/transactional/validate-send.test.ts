import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { int, row } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'
import { makeDomainApp, recordOf } from '../domains/fixtures/app.ts'
import { suppress } from '../suppressions/suppressions.ts'

const app = await makeDomainApp({ env: { POSTHORN_RATE_LIMIT_FACTOR: '100' } })
const { zone } = app
Object.assign(zone, {
  'good.example MX': [{ exchange: 'mx.good.example', priority: 10 }],
  'good.example TXT': ['v=spf1 include:spf.posthorn.example -all', 'something else'],
  'elsewhere.example MX': [{ exchange: 'mx.elsewhere.example', priority: 10 }],
  'elsewhere.example TXT': ['v=spf1 ip4:198.51.100.1 -all'],
  '_dmarc.elsewhere.example TXT': ['v=DMARC1; p=none'],
  '_dmarc.good.example TXT': ['v=DMARC1; p=none'],
  'other.example TXT': ['v=spf10 nearly'],
  'twice.example TXT': ['v=spf1 -all', 'v=spf1 ~all'],
  'twice.example A': ['192.0.2.1'],
  '_dmarc.twice.example TXT': ['v=DMARC1; p=wrong'],
  'broken.example MX': 'fails',
  'broken.example TXT': 'fails',
  '_dmarc.broken.example TXT': 'fails',
  'mailinator.com MX': 'fails',
  'gmaill.com MX': 'fails',
})
// What the other tests write from, and about.
app.publish((await app.declare('example.com')).body.records)
await app.verify('example.com')

const plain = { from: 'shop@example.com', to: 'anna@example.com', subject: 'Hello', text: 'Hello.' }

async function validate(body: object, key = app.key) {
  const reply = await app.call('POST', '/api/v1/messages/validate', { key, body: { ...plain, ...body } })
  assert.equal(reply.status, 200, reply.text)
  return reply.body
}

type Item = { code: string; message: string; param?: string; severity?: string; domain?: string | null }

const codes = (items: { code: string }[]) => items.map(({ code }) => code).sort()

describe('a dry run', () => {
  test('of a good message is ok and writes nothing', async () => {
    const { verdict, blocking, warnings, rendered } = await validate({})
    assert.deepEqual([verdict, blocking, warnings], ['ok', [], []])
    assert.deepEqual(rendered, { subject: 'Hello', html: null, text: 'Hello.' })
    const { n } = await app.pools.db.one(
      row<{ n: number }>({ n: int }),
      sql`select (select count(*) from messages)::int + (select count(*) from sending_days)::int as n`,
    )
    assert.equal(n, 0)
  })

  test('reports everything that a send would refuse, at once and with the same codes', async () => {
    const { key } = await app.makeKey({ senderDomains: ['other.example'], dailyCap: 0 })
    const { verdict, blocking } = await validate(
      { to: 'nobody', text: undefined, headers: { Bcc: 'x' }, scheduled_at: '2001-01-01T00:00:00Z' },
      key,
    )
    assert.equal(verdict, 'blocked')
    assert.deepEqual(codes(blocking), [
      'content_missing',
      'daily_cap_reached',
      'invalid_parameter',
      'invalid_parameter',
      'recipient_invalid',
      'sender_domain_not_allowed',
    ])
  })

  test('reads over a link that is no address', async () => {
    const { verdict } = await validate({ html: '<a href="https://[bad/">x</a>' })
    assert.notEqual(verdict, 'blocked')
  })

  test('answers 200 for whatever is of the right types', async () => {
    const found = async (body: object) => {
      const reply = await app.call('POST', '/api/v1/messages/validate', { body })
      assert.equal(reply.status, 200, reply.text)
      assert.equal(reply.body.verdict, 'blocked')
      const items = reply.body.blocking as { code: string; param: string }[]
      return items.map(({ code, param }) => `${param} ${code}`).sort()
    }
    const lacking = ['from missing_parameter', 'html content_missing', 'subject content_missing']
    assert.deepEqual(await found({}), [...lacking, 'to missing_parameter'])
    assert.deepEqual(await found({ ...plain, from: 'x', tag: 'bad tag' }), [
      'from invalid_parameter',
      'tag invalid_parameter',
    ])
    assert.deepEqual(await found({ ...plain, text: '' }), ['html content_missing'])
    const attachments = [{ filename: 'a' }, { filename: 'b', content: '!' }]
    assert.deepEqual(await found({ ...plain, attachments, template_id: 2 ** 60 }), [
      'attachments[0].content missing_parameter',
      'template_id invalid_parameter',
    ])
    for (const body of [{ ...plain, colour: 1 }, { ...plain, to: 5 }, [], { ...plain, html: null }])
      assert.equal((await app.call('POST', '/api/v1/messages/validate', { body })).status, 422)
  })

  test('holds the names of metadata to their length, as a send does', async () => {
    const metadata = { ['n'.repeat(65)]: 'x', ['n'.repeat(64)]: 'x' }
    const { blocking } = await validate({ metadata })
    assert.deepEqual(codes(blocking), ['invalid_parameter'])
    assert.match(blocking[0].message, /at most 64 characters/)
    const body = { ...plain, metadata }
    assert.equal((await app.call('POST', '/api/v1/transactional/send', { body })).status, 422)
  })

  test('takes media types with parameters, and nothing that would end the header', async () => {
    const found = async (content_type: string) =>
      codes(
        (await validate({ attachments: [{ filename: 'x.ics', content: 'eA==', content_type }] })).blocking,
      )
    assert.deepEqual(await found('text/calendar; method=REQUEST; charset="utf-8"'), [])
    for (const bad of ['text', 'text/calendar; method', 'text/calendar; a="x\r\ny"', 'text/plain;;'])
      assert.deepEqual(await found(bad), ['invalid_parameter'], bad)
  })

  test('names the request that frees a suppressed recipient', async () => {
    await app.call('POST', '/api/v1/suppressions', { body: { email: 'gone@example.com' } })
    const { blocking } = await validate({ to: 'gone@example.com' })
    assert.deepEqual(codes(blocking), ['recipient_suppressed'])
    const { method, path } = blocking[0].action
    assert.equal((await app.call(method, path)).status, 200)
    assert.equal((await validate({ to: 'gone@example.com' })).verdict, 'ok')
  })

  test('says of each reason what would speak for writing again', async () => {
    const hintOf = async (reason: 'hard_bounce' | 'soft_bounce_limit' | 'complaint' | 'unsubscribe') => {
      const email = `${reason}@example.com`
      const why = { reason, source: 'test', messageId: null, at: app.clock.now }
      await suppress(app.pools.db, { accountId: app.accountId, email }, why)
      return (await validate({ to: email })).blocking[0].hint
    }
    assert.match(await hintOf('hard_bounce'), /mailbox does not exist/)
    assert.match(await hintOf('soft_bounce_limit'), /in use again/)
    for (const reason of ['complaint', 'unsubscribe'] as const)
      assert.match(await hintOf(reason), /only if the person asked/)
  })

  test('shows the message rendered, and which variables are missing', async () => {
    const html = '<p>{{ params.name }} {{ params.age }} {{ params.nick | default: "you" }}</p>'
    const { rendered, warnings } = await validate({ html, params: { name: 'Bo' }, text: 'x' })
    assert.equal(rendered.html, '<p>Bo  you</p>')
    assert.deepEqual(codes(warnings), ['missing_variable'])
    assert.match(warnings[0].message, /params\.age/)
  })

  test('misses no variable that the contact has', async () => {
    const attributes = { FIRSTNAME: 'Bo' }
    await app.call('POST', '/v3/contacts', { body: { email: 'bo@example.com', attributes } })
    const body = {
      to: 'bo@example.com',
      html: '<p>{{ contact.FIRSTNAME }} {{ contact.LASTNAME }}</p>',
      text: 'x',
    }
    const { rendered, warnings } = await validate({ ...body, params: {} })
    assert.equal(rendered.html, '<p>Bo </p>')
    assert.deepEqual(
      warnings.map(({ message }: { message: string }) => message),
      ['The template reads contact.LASTNAME, which is not given.'],
    )
  })

  test('warns of what hurts delivery', async () => {
    const found = async (body: object) => codes((await validate(body)).warnings)
    assert.deepEqual(await found({ html: '<p>x</p>', text: undefined }), ['no_text_part'])
    assert.deepEqual(await found({ html: '<a href="https://bit.ly/x">some words to read</a>' }), [
      'link_shortener',
    ])
    assert.deepEqual(await found({ html: '<p>some words, see http://www.BIT.ly/x</p>' }), ['link_shortener'])
    const written = await validate({ text: 'See https://bit.ly/x, or ask us.' })
    assert.deepEqual([written.warnings.length, written.warnings[0]?.param], [1, 'text'])
    assert.deepEqual(await found({ text: 'See https://notbit.ly and https://bit.ly.example.' }), [])
    assert.deepEqual(await found({ html: '<img src="https://example.com/x.png">' }), ['image_only'])
    assert.deepEqual(await found({ subject: 'x'.repeat(90) }), ['subject_too_long'])
    assert.deepEqual(await found({ text: 'x'.repeat(110_000) }), ['message_clipped'])
    assert.deepEqual(await found({ tag: 'newsletter' }), ['list_unsubscribe_missing'])
    assert.deepEqual(await found({ to: 'postmaster@example.com' }), ['role_address'])
    assert.deepEqual(await found({ to: 'anna@mailinator.com' }), ['disposable_domain'])
    const { warnings } = await validate({ to: 'anna@gmaill.com' })
    assert.deepEqual([warnings[0].code, warnings[0].hint], ['mistyped_domain', 'Did you mean gmail.com?'])
    const attachments = [{ filename: 'run.exe', content: 'eA==' }]
    assert.deepEqual(await found({ attachments }), ['attachment_blocked'])
  })

  test('reads public DNS of a domain that is not declared, and tells no record from no answer', async () => {
    const found = async (domain: string) =>
      codes((await validate({ from: `shop@${domain}`, to: `anna@${domain}` })).warnings)
    // Nothing signs for any of them, but SPF may speak for one.
    const unsigned = 'domain_not_authenticated'
    assert.deepEqual(await found('good.example'), [])
    assert.deepEqual(await found('elsewhere.example'), [unsigned])
    assert.deepEqual(await found('news.good.example'), [unsigned, 'recipient_without_mx'])
    for (const domain of ['other.example', 'twice.example'])
      assert.deepEqual(await found(domain), ['dmarc_missing', unsigned, 'recipient_without_mx'])
    assert.deepEqual(await found('broken.example'), [])
    const explained = async (domain: string) =>
      (await validate({ from: `shop@${domain}` })).warnings.find((one: Item) => one.code === unsigned)
    assert.match(
      (await explained('elsewhere.example')).message,
      /does not authorise include:spf\.posthorn\.example/,
    )
    const { message, action } = await explained('twice.example')
    assert.match(message, /is not declared.*2 SPF records/)
    assert.equal((await app.call(action.method, action.path, action)).status, 201)
    const ofProvider = await explained('gmail.com')
    assert.deepEqual([ofProvider.action, /reply_to/.test(ofProvider.hint)], [undefined, true])
    zone['_dmarc.strict.example TXT'] = ['v=DMARC1; p=reject']
    assert.match((await explained('strict.example')).message, /DMARC policy is reject/)
  })

  test('asks no DNS for an address of the simulator', async () => {
    assert.equal((await validate({ to: 'success@simulator.posthorn.test' })).verdict, 'ok')
  })

  test('says that contents without params are no templates', async () => {
    const found = async (body: object) => (await validate(body)).warnings as Item[]
    const [warning, ...others] = await found({
      subject: 'Hi {{ params.name }}',
      text: '{% if x %}y{% endif %}',
    })
    assert.deepEqual([warning?.code, warning?.param, others], ['placeholders_unrendered', 'subject', []])
    assert.match(warning?.message ?? '', /^subject and text .*\{\{ params\.name \}\}/)
    assert.deepEqual(await found({ subject: 'Hi {{ params.name }}', params: { name: 'Bo' } }), [])
    assert.deepEqual(await found({ text: 'a {{}} b { c } {{{ 5 }}}' }), [])
  })
})

describe('the authentication of a declared domain is what the diagnosis says it is', () => {
  const states: Record<string, string[] | undefined> = {
    missing: undefined,
    revoked: ['v=DKIM1; k=rsa; p='],
    mismatch: ['v=DKIM1; k=rsa; p=MFwwDQYJKoZIhvcNAQEBBQADSwAwSAJBAMYfnvWtC8Id5bPKae5yXSxQTt'],
    multiple: ['v=DKIM1; k=rsa; p=', 'v=DKIM1; k=rsa; p=AAAA'],
  }
  const diagnosed = async (domain: string) => {
    const { findings } = (await app.call('GET', `/api/v1/deliverability/diagnose?domain=${domain}`)).body
    return findings.filter((one: Item) => one.domain === domain) as Item[]
  }
  const isCritical = ({ severity }: Item) => severity === 'critical'

  for (const [state, records] of Object.entries(states))
    for (const policy of ['none', 'reject'])
      test(`DKIM ${state}, the DMARC policy ${policy}: SPF alone is not enough`, async () => {
        const domain = `${state}-${policy}.example`
        const { body } = await app.declare(domain)
        app.publish(body.records)
        delete zone[`${recordOf(body, 'dkim').host} TXT`]
        if (records) zone[`${recordOf(body, 'dkim').host} TXT`] = records
        zone[`_dmarc.${domain} TXT`] = [`v=DMARC1; p=${policy}`]
        await app.verify(domain)
        const told = (await diagnosed(domain)).filter(isCritical).map(({ message }) => message)
        const { verdict, warnings } = await validate({ from: `a@${domain}`, to: 'user@good.example' })
        assert.deepEqual([verdict, codes(warnings)], ['warnings', ['domain_not_authenticated']])
        for (const message of told) assert.ok(warnings[0].message.includes(message), message)
        assert.equal(/DMARC policy is reject/.test(warnings[0].message), policy === 'reject')
        assert.equal(warnings[0].action.operation, 'domain.verify')
      })

  test('a second SPF record is no missing authentication where DKIM works', async () => {
    const domain = 'two-spf.example'
    const { body } = await app.declare(domain)
    app.publish(body.records)
    zone[`${domain} TXT`] = [recordOf(body, 'spf').value, 'v=spf1 -all']
    await app.verify(domain)
    assert.deepEqual(codes((await diagnosed(domain)).filter(isCritical)), [])
    const { warnings } = await validate({ from: `a@${domain}`, to: 'user@good.example' })
    assert.deepEqual(codes(warnings), ['spf_multiple'])
  })

  test('neither DKIM nor SPF, and no DMARC', async () => {
    const domain = 'bare.example'
    await app.declare(domain)
    await app.verify(domain)
    const { warnings } = await validate({ from: `a@${domain}`, to: 'user@good.example' })
    assert.deepEqual(codes(warnings), [
      'dmarc_missing',
      'domain_not_authenticated',
      'from_not_aligned',
      'spf_missing',
    ])
  })
})
