import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { startDnsServer, type Zone } from '../../../../test/stand-ins/dns-server.ts'
import { openDns } from '../../../adapters/system-dns/system-dns.ts'
import { isAligned } from './alignment.ts'
import { readDmarc } from './read-dmarc.ts'

const asked: string[] = []
const zone: Zone = {}
const dns = openDns({ servers: [await startDnsServer(zone, { asked })] })
const rua = 'rua=mailto:dmarc@example.com'

async function read(domain: string, records: Zone = {}) {
  for (const name of Object.keys(zone)) delete zone[name]
  Object.assign(zone, records)
  asked.length = 0
  const got = await readDmarc(dns, domain)
  return { ...got, codes: got.remarks.map(({ code }) => code) }
}
const at = (domain: string, ...records: string[]): Zone => ({ [`_dmarc.${domain} TXT`]: records })

describe('a DMARC record', () => {
  test('of the domain itself is ok', async () => {
    const got = await read('example.com', at('example.com', 'other', `v=DMARC1; p=reject; adkim=s; ${rua}`))
    assert.deepEqual(
      [got.state, got.policy, got.foundAt, got.organisation, got.codes],
      ['ok', 'reject', 'example.com', 'example.com', []],
    )
    assert.deepEqual(got.alignment, { dkim: 's', spf: 'r' })
    assert.deepEqual(got.found, [`v=DMARC1; p=reject; adkim=s; ${rua}`])
  })

  test('that is inherited says from where, and which policy it has for what lies below', async () => {
    const above = at('example.com', `v=DMARC1; p=reject; sp=quarantine; np=none; ${rua}`)
    const there = await read('news.example.com', { ...above, 'news.example.com A': ['192.0.2.1'] })
    assert.deepEqual([there.state, there.policy, there.foundAt], ['ok', 'quarantine', 'example.com'])
    assert.deepEqual([there.codes, there.organisation], [['inherited'], 'example.com'])
    assert.match(there.explanation, /that of _dmarc\.example\.com counts and asks for quarantine/)
    const nowhere = await read('new.example.com', above)
    assert.deepEqual([nowhere.policy, nowhere.codes], ['none', ['inherited', 'policy_none']])
    assert.equal((await read('x.example.com', at('example.com', 'v=DMARC1; p=reject'))).policy, 'reject')
  })

  test('is looked for with eight questions at most', async () => {
    const name = 'a.b.c.d.e.f.g.h.i.j.mail.example.com'
    const got = await read(name, at('example.com', `v=DMARC1; p=reject; ${rua}`))
    assert.equal(got.foundAt, 'example.com')
    const walked = asked.filter((one) => one.startsWith('_dmarc.') && !one.includes(`${name}.${name}`))
    assert.deepEqual(walked.sort(), [
      `_dmarc.${name} TXT`,
      '_dmarc.com TXT',
      '_dmarc.example.com TXT',
      '_dmarc.g.h.i.j.mail.example.com TXT',
      '_dmarc.h.i.j.mail.example.com TXT',
      '_dmarc.i.j.mail.example.com TXT',
      '_dmarc.j.mail.example.com TXT',
      '_dmarc.mail.example.com TXT',
    ])
  })

  test('of the organisation is found as the standard says', async () => {
    const organisation = async (domain: string, records: Zone) => (await read(domain, records)).organisation
    const two = { ...at('mail.example.com', 'v=DMARC1; p=none'), ...at('example.com', 'v=DMARC1; p=none') }
    assert.equal(await organisation('a.mail.example.com', two), 'example.com')
    const own = { ...two, ...at('mail.example.com', 'v=DMARC1; p=none; psd=n') }
    assert.equal(await organisation('a.mail.example.com', own), 'mail.example.com')
    const suffix = at('com', 'v=DMARC1; p=reject; psd=y')
    assert.equal(await organisation('a.mail.example.com', suffix), 'example.com')
    assert.equal((await read('a.mail.example.com', suffix)).foundAt, 'com')
    assert.equal(await organisation('a.mail.example.com', {}), 'a.mail.example.com')
  })

  test('that is missing is looked for where it is often put by mistake', async () => {
    const none = await read('example.com')
    assert.deepEqual([none.state, none.policy, none.foundAt], ['missing', null, null])
    assert.match(
      none.explanation,
      /Publish a TXT record at _dmarc\.example\.com with the value v=DMARC1; p=none$/,
    )
    const apex = await read('example.com', { 'example.com TXT': ['v=spf1 ~all', 'v=DMARC1; p=none'] })
    assert.deepEqual([apex.state, apex.found], ['missing', ['v=DMARC1; p=none']])
    assert.match(apex.explanation, /stands at example\.com, where nobody looks/)
    const doubled = await read('example.com', at('example.com.example.com', 'v=DMARC1; p=none'))
    assert.match(doubled.explanation, /_dmarc\.example\.com\.example\.com/)
    for (const stray of ['about dmarc1', 'v=spf1 -all', 'v=DMARC1; p=perhaps']) {
      const wild = await read('example.com', {
        ...at('example.com.example.com', stray),
        'example.com TXT': [stray],
      })
      assert.deepEqual([wild.explanation, wild.found], [none.explanation, []])
    }
  })

  test('that stands twice is discarded', async () => {
    const got = await read('example.com', at('example.com', 'v=DMARC1; p=none', 'v=DMARC1; p=reject'))
    assert.deepEqual([got.state, got.policy, got.found.length], ['multiple', null, 2])
    assert.match(got.explanation, /"v=DMARC1; p=none" and "v=DMARC1; p=reject"|"v=DMARC1; p=reject" and/)
    const above = await read('a.example.com', at('example.com', 'v=DMARC1; p=none', 'v=DMARC1; p=reject'))
    assert.equal(above.state, 'multiple')
  })

  test('that receivers would not see or not understand is invalid', async () => {
    for (const text of [
      'v=dmarc1; p=none',
      'p=none; v=DMARC1',
      'v=DMARC1 p=none',
      'v=DMARC1.0; p=none',
      '"v=DMARC1"',
    ])
      assert.equal((await read('example.com', at('example.com', text))).state, 'invalid', text)
    const typo = await read('example.com', at('example.com', 'v=DMARC1; p=rejct'))
    assert.deepEqual([typo.state, typo.policy], ['invalid', null])
    assert.match(typo.explanation, /p="rejct" is none of none, quarantine and reject/)
    const reported = await read('example.com', at('example.com', `v=DMARC1; p=reject; sp=x; ${rua}`))
    assert.deepEqual([reported.state, reported.policy], ['invalid', 'none'])
  })

  test('that cannot be read is not missing', async () => {
    const state = async (domain: string, records: Zone) => (await read(domain, records)).state
    assert.equal(await state('example.com', { '_dmarc.example.com TXT': 'fails' }), 'unreadable')
    assert.equal(await state('example.com', { '_dmarc.example.com TXT': 'silent' }), 'unreadable')
    const above = await read('a.example.com', {
      '_dmarc.example.com TXT': 'fails',
      ...at('com', 'v=DMARC1; p=none'),
    })
    assert.deepEqual([above.state, above.policy, above.foundAt], ['unreadable', null, null])
    const own = { ...at('a.example.com', 'v=DMARC1; p=none'), '_dmarc.example.com TXT': 'fails' as const }
    assert.equal(await state('a.example.com', own), 'ok')
  })

  test('has remarks on what is obsolete, weak or passed over', async () => {
    const remarks = async (text: string) => (await read('example.com', at('example.com', text))).codes
    const old = await remarks(`v=DMARC1; p=reject; pct=50; rf=afrf; ri=60; ${rua}!10m`)
    assert.deepEqual(old, ['obsolete_tag', 'obsolete_tag', 'obsolete_tag', 'obsolete_tag'])
    assert.deepEqual(await remarks('v=DMARC1; p=none'), ['policy_none', 'no_reports'])
    assert.deepEqual(await remarks(`v=DMARC1; ${rua}`), ['policy_none', 'policy_absent'])
    assert.deepEqual(await remarks(`v=DMARC1; p=reject; aspf=x; junk; ${rua}`), [
      'ignored_part',
      'ignored_part',
    ])
    const testing = await read('example.com', at('example.com', `v=DMARC1; p=reject; t=y; ${rua}`))
    assert.deepEqual([testing.policy, testing.codes], ['quarantine', ['testing']])
  })

  test('has a remark on reports that their receiver did not agree to', async () => {
    const record = at('example.com', 'v=DMARC1; p=reject; rua=mailto:a@yes.example,mailto:b@no.example')
    const yes = { 'example.com._report._dmarc.yes.example TXT': ['v=DMARC1'] }
    const got = await read('example.com', { ...record, ...yes })
    assert.deepEqual([got.state, got.codes], ['ok', ['report_not_authorised']])
    assert.match(got.remarks[0]?.message ?? '', /^no\.example does not agree/)
  })
})

test('alignment is of the organisation or of the name', () => {
  const organisation = (domain: string) => domain.split('.').slice(-2).join('.')
  assert.ok(isAligned('news.example.com', 'Bounce.Example.com', 'r', organisation))
  assert.ok(!isAligned('news.example.com', 'bounce.example.com', 's', organisation))
  assert.ok(isAligned('news.example.com', 'NEWS.example.com', 's', organisation))
  assert.ok(!isAligned('example.com', 'example.org', 'r', organisation))
})
