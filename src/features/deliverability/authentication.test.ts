import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { describe, test } from 'node:test'
import { sql } from '../../kernel/sql.ts'
import { type Body, makeDomainApp } from '../domains/fixtures/app.ts'
import { diagnosing, env, type Finding } from './fixtures/diagnosing.ts'

const app = await makeDomainApp({ env })
const { zone } = app
const { setUp, verified } = diagnosing(app)

describe('authentication', () => {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const otherKey = publicKey.export({ type: 'spki', format: 'der' }).toString('base64')
  const dmarc = 'v=DMARC1; p=none'
  const spf = 'v=spf1 include:spf.posthorn.example ~all'
  const wrong: Record<string, Record<string, string[] | 'fails' | undefined>> = {
    dkim: {
      missing: undefined,
      mismatch: [`v=DKIM1; k=rsa; p=${otherKey}`],
      invalid: ['v=DKIM1; k=rsa; p='],
      multiple: [`v=DKIM1; k=rsa; p=${otherKey}`, 'v=DKIM1; k=rsa; p='],
      unreadable: 'fails',
    },
    spf: {
      missing: undefined,
      mismatch: ['v=spf1 ip4:192.0.2.9 -all'],
      invalid: ['v=spf1 include: nonsense ~all'],
      multiple: [spf, 'v=spf1 -all'],
      unreadable: 'fails',
    },
    dmarc: {
      missing: undefined,
      invalid: ['v=DMARC1; p=perhaps'],
      multiple: [dmarc, 'v=DMARC1; p=reject'],
      unreadable: 'fails',
    },
  }
  /** The name of its record is not known before it is declared, and asked for. */
  const forgetDkim = (accountId: string) =>
    app.pools.db.run(sql`
      update domains
         set records = (select jsonb_agg(case when r ->> 'role' = 'dkim' then r || '{"known": null}' else r end)
                          from jsonb_array_elements(records) r)
       where account_id = ${accountId}`)

  for (const [role, states] of Object.entries(wrong))
    for (const [state, records] of Object.entries(states))
      test(`${role}_${state}: publishing what domain.dns says and verifying mends it`, async () => {
        const { accountId, key, call, diagnose, must, follow } = await setUp()
        const domain = `${role}-${state}.example`
        // Before anybody asks: an answer that failed leaves what is known as it was.
        const known = { spf: domain, dmarc: `_dmarc.${domain}` }[role]
        if (known && records === 'fails') zone[`${known} TXT`] = records
        const { body: declared } = await app.declare(domain, key)
        delete zone[`${known} TXT`]
        app.publish(declared.records)
        const { host } = declared.records.find((one: Body) => one.role === role)
        delete zone[`${host} TXT`]
        if (records) zone[`${host} TXT`] = records
        if (role === 'dkim' && records === 'fails') await forgetDkim(accountId)
        await app.verify(domain, key)
        const finding = await must(`${role}_${state}`)
        assert.equal(finding.domain, domain)
        assert.equal(finding.evidence.publish.host, host)
        assert.ok(finding.message.includes(host), finding.message)
        assert.ok(!finding.message.slice(host.length).startsWith(`: ${host}`), finding.message)
        const { body: shown } = await call('GET', `/api/v1/domains/${domain}/dns`)
        const publish = shown.records.find((one: Body) => one.role === role)
        assert.deepEqual(finding.evidence.publish, { host, type: 'TXT', value: publish.value })
        zone[`${host} TXT`] = [publish.value]
        await follow(finding.code, finding)
        const left = (await diagnose(`?domain=${domain}`)).findings.filter((one: Finding) => one.domain)
        assert.deepEqual(left, [])
      })

  const codesOf = ({ findings }: Body): string[] => findings.map((one: Finding) => one.code)
  const withoutMail = { mx_missing: undefined, mx_null: [{ exchange: '', priority: 0 }] }
  for (const [code, records] of Object.entries(withoutMail))
    test(`${code}: a domain that takes no mail is told of until it does; silence changes nothing`, async () => {
      const { key, must, find, follow } = await setUp()
      const domain = `${code.replace('_', '-')}.example`
      await verified(domain, key)
      assert.equal(await find(code), undefined)
      const name = `${domain} MX`
      if (records) zone[name] = records
      else delete zone[name]
      await app.verify(domain, key)
      const { severity, domain: named } = await must(code)
      assert.deepEqual([severity, named], ['warning', domain])
      zone[name] = 'fails'
      await app.verify(domain, key)
      const finding = await must(code)
      assert.match(finding.message, /Publish an MX record.*domain\.verify/)
      const { method, path, body } = finding.proof
      const shown = async () => codesOf((await app.call(method, path, { key, body })).body)
      assert.ok((await shown()).includes(code), 'the proof shows it')
      zone[name] = [{ exchange: 'mx.example', priority: 10 }]
      await follow(code, finding)
      assert.ok(!(await shown()).includes(code), 'and that it is mended')
    })

  test('domain_not_verified and from_not_aligned go with the records', async () => {
    for (const code of ['domain_not_verified', 'from_not_aligned']) {
      const { key, must, follow } = await setUp()
      const domain = `${code.replaceAll('_', '-')}.example`
      const { body: declared } = await app.declare(domain, key)
      const finding = await must(code)
      assert.equal(finding.severity, 'critical')
      app.publish(declared.records)
      await follow(code, finding)
    }
  })

  for (const [code, role, spoilt] of [
    ['spf_plus_all', 'spf', (value: string) => value.replace('~all', '+all')],
    ['dkim_testing', 'dkim', (value: string) => `${value}; t=y`],
  ] as const)
    test(`${code}: a record that is right and of little use`, async () => {
      const { key, must, follow } = await setUp()
      const domain = `${code.replaceAll('_', '-')}.example`
      const { records } = await verified(domain, key)
      const { host, value } = records.find((one: Body) => one.role === role)
      zone[`${host} TXT`] = [spoilt(value)]
      await app.verify(domain, key)
      const finding = await must(code)
      assert.deepEqual([finding.severity, finding.domain], ['warning', domain])
      zone[`${host} TXT`] = [value]
      await follow(code, finding)
    })

  test('what DNS never answered for is not said to fail', async () => {
    const { key, diagnose } = await setUp()
    const domain = 'blind.example'
    for (const name of [domain, `_dmarc.${domain}`]) zone[`${name} TXT`] = 'fails'
    const { body: declared } = await app.declare(domain, key)
    for (const { host } of declared.records) zone[`${host} TXT`] = 'fails'
    await app.pools.db.run(sql`
      update domains
         set records = (select jsonb_agg(r || '{"known": null}') from jsonb_array_elements(records) r)
       where domain = ${domain}`)
    const { findings } = await diagnose(`?domain=${domain}`)
    const of = (code: string) => findings.find((one: Finding) => one.code === code)
    assert.equal(of('from_not_aligned'), undefined)
    assert.equal(of('dkim_unreadable').severity, 'info')
    const { records_to_mend, records_unread } = of('domain_not_verified').evidence
    assert.deepEqual([records_to_mend, records_unread > 0], [0, true])
  })

  test('a record that was right stays so while DNS is silent', async () => {
    const { key, diagnose } = await setUp()
    const { records } = await verified('silent.example', key)
    for (const { host } of records) zone[`${host} TXT`] = 'fails'
    await app.verify('silent.example', key)
    assert.deepEqual(
      (await diagnose()).findings.filter(({ domain }: Finding) => domain),
      [],
    )
  })

  test('from_domain_undeclared: of messages that were sent, and of the default sender', async () => {
    const { call, must, follow, diagnose } = await setUp()
    const body = { from: 'a@Undeclared.example', to: 'b@example.org', subject: 'Hi', text: 'Hi.' }
    await call('POST', '/api/v1/transactional/send', body)
    const finding = await must('from_domain_undeclared')
    assert.deepEqual([finding.domain, finding.evidence.messages], ['undeclared.example', 1])
    // The service's own mail: the code for an address comes from it, where there is no other to write as.
    await call('POST', '/v3/senders', { name: 'Me', email: 'me@self.example' })
    const { findings: first } = await diagnose()
    assert.ok(first.every((one: Finding) => one.domain !== 'self.example'))
    await follow(finding.code, finding)
    await call('PUT', '/api/v1/settings', { default_sender: { email: 'hello@usual.example' } })
    assert.equal((await must('from_domain_undeclared')).domain, 'usual.example')
    const { findings } = await diagnose('?domain=undeclared.example')
    assert.ok(findings.every((one: Finding) => one.domain !== 'usual.example'))
  })

  test('from_domain_undeclared: what was sent before the days that are looked at is over', async () => {
    const { accountId, call, find, must } = await setUp()
    const message = { from: 'a@long-ago.example', to: 'b@example.org', subject: 'Hi', text: 'Hi.' }
    await call('POST', '/api/v1/transactional/send', message)
    const age = (days: number) =>
      app.pools.db.run(sql`
        update messages
           set created_at = ${app.clock.now}::timestamptz - make_interval(days => ${days})
         where account_id = ${accountId}`)
    await age(29)
    assert.equal((await must('from_domain_undeclared')).evidence.messages, 1)
    await age(30)
    assert.equal(await find('from_domain_undeclared'), undefined)
  })

  test('from_domain_undeclared: what declaring would refuse is not offered, but a domain of their own', async () => {
    const { key, call, must, follow, diagnose } = await setUp()
    for (const domain of ['gmail.com', 'co.uk', 'printer.local']) {
      await call('PUT', '/api/v1/settings', { default_sender: { email: `ann@${domain}`, name: 'Ann' } })
      const finding = await must('from_domain_undeclared')
      assert.deepEqual([finding.domain, finding.action], [domain, null])
      assert.match(finding.message, /Send from a domain of your own: declare one, and verify it\.$/)
      const { action } = (await diagnose()).first_steps.find(({ code }: Body) => code === 'declare_domain')
      assert.equal(action.body.domain, 'mail.example.com')
      const refused = await call('POST', '/api/v1/domains', { domain })
      assert.equal(refused.status, 422, domain)
    }
    await verified('ours.example', key)
    await call('PUT', '/api/v1/settings', { default_sender: { email: 'ann@gmail.com', name: 'Ann' } })
    const finding = await must('from_domain_undeclared')
    assert.match(finding.message, /belongs to its provider.*a domain of your own, such as ours\.example\.$/)
    assert.deepEqual(finding.action.body, { default_sender: { email: 'ann@ours.example', name: 'Ann' } })
    await follow(finding.code, finding)
    // Who is named in each message, no setting changes.
    await call('POST', '/api/v1/transactional/send', {
      from: 'ann@gmail.com',
      to: 'b@example.org',
      subject: 'Hi',
      text: 'Hi.',
    })
    assert.equal((await must('from_domain_undeclared')).action, null)
    const { body } = await call('GET', '/api/v1/deliverability/diagnose?domain=gmail.com')
    assert.equal(body.error.action, undefined)
  })
})
