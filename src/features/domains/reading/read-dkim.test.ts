import assert from 'node:assert/strict'
import { generateKeyPairSync } from 'node:crypto'
import { describe, test } from 'node:test'
import { startDnsServer, type Zone } from '../../../../test/stand-ins/dns-server.ts'
import { openDns } from '../../../adapters/system-dns/system-dns.ts'
import { readDkim } from './read-dkim.ts'

const base64 = (key: Buffer) => key.toString('base64')
const rsa = (modulusLength: number) => generateKeyPairSync('rsa', { modulusLength }).publicKey
const key = rsa(2048)
const publicKey = base64(key.export({ format: 'der', type: 'spki' }))
const other = base64(rsa(1024).export({ format: 'der', type: 'spki' }))

const zone: Zone = {}
const dns = openDns({ servers: [await startDnsServer(zone)] })

let made = 0
async function read(records: Zone[string], wanted = publicKey) {
  const domain = `d${++made}.example`
  zone[`sel._domainkey.${domain} TXT`] = records
  return readDkim(dns, { domain, selector: 'sel', publicKey: wanted })
}
const codes = ({ remarks }: { remarks: { code: string }[] }) => remarks.map(({ code }) => code)

describe('a DKIM key', () => {
  test('is ok when it is the one that signs', async () => {
    const got = await read([`v=DKIM1; k=rsa; p=${publicKey}`])
    assert.deepEqual([got.state, got.remarks], ['ok', []])
    assert.match(got.explanation, /^sel\._domainkey\.d\d+\.example carries this key\.$/)
    const text = ` h = sha1 : sha256 ; s=email; t=s; n=note; x=y; p= ${publicKey.replace(/(.{60})/g, '$1 ')};`
    assert.equal((await read([text])).state, 'ok')
  })

  test('may be in the older form of an RSA key', async () => {
    assert.equal((await read([`p=${base64(key.export({ format: 'der', type: 'pkcs1' }))}`])).state, 'ok')
  })

  test('is found behind aliases', async () => {
    zone['there.example TXT'] = [`v=DKIM1; p=${publicKey}`]
    zone['between.example CNAME'] = ['there.example']
    zone['sel._domainkey.alias.example CNAME'] = ['between.example']
    assert.equal((await readDkim(dns, { domain: 'alias.example', selector: 'sel', publicKey })).state, 'ok')
  })

  test('of Ed25519 is compared too', async () => {
    const spki = generateKeyPairSync('ed25519').publicKey.export({ format: 'der', type: 'spki' })
    const record = `v=DKIM1; k=ed25519; p=${base64(spki.subarray(-32))}`
    assert.equal((await read([record], base64(spki))).state, 'ok')
    assert.equal((await read([record])).state, 'mismatch')
    assert.equal((await read([`v=DKIM1; k=ed25519; p=${publicKey}`])).state, 'invalid')
  })

  test('that is another one, or cut off, is a mismatch', async () => {
    assert.match((await read([`v=DKIM1; p=${other}`])).explanation, /another key is published/)
    const cut = await read([`v=DKIM1; p=${publicKey.slice(0, 240)}`])
    assert.equal(cut.state, 'mismatch')
    assert.match(cut.explanation, /cut off/)
  })

  test('that is missing, at the wrong place or behind a dead alias is told so', async () => {
    const gone = await readDkim(dns, { domain: 'gone.example', selector: 'sel', publicKey })
    assert.deepEqual([gone.state, gone.found], ['missing', []])
    zone['sel._domainkey.twice.example.twice.example TXT'] = [`v=DKIM1; p=${publicKey}`]
    const doubled = await readDkim(dns, { domain: 'twice.example', selector: 'sel', publicKey })
    assert.equal(doubled.state, 'missing')
    assert.match(doubled.explanation, /stands at sel\._domainkey\.twice\.example\.twice\.example instead of/)
    for (const stray of [`v=DKIM1; p=${other}`, 'v=spf1 -all', 'v=DKIM1; p=']) {
      zone['sel._domainkey.twice.example.twice.example TXT'] = [stray]
      const wild = await readDkim(dns, { domain: 'twice.example', selector: 'sel', publicKey })
      assert.equal(
        wild.explanation,
        'sel._domainkey.twice.example has no TXT record with the key. Publish it there.',
      )
    }
    zone['sel._domainkey.dead.example CNAME'] = ['nowhere.example']
    const dead = await readDkim(dns, { domain: 'dead.example', selector: 'sel', publicKey })
    assert.equal(dead.state, 'missing')
    assert.match(dead.explanation, /alias of "nowhere\.example"/)
  })

  test('that cannot be read is not missing', async () => {
    assert.equal((await read('fails')).state, 'unreadable')
    assert.equal((await read('silent')).state, 'unreadable')
    zone['sel._domainkey.round.example CNAME'] = ['round2.example']
    zone['round2.example CNAME'] = ['sel._domainkey.round.example']
    const round = await readDkim(dns, { domain: 'round.example', selector: 'sel', publicKey })
    assert.equal(round.state, 'unreadable')
  })

  test('that stands twice is ambiguous', async () => {
    const got = await read([`v=DKIM1; p=${publicKey}`, `v=DKIM1; p=${other}`])
    assert.deepEqual([got.state, got.found.length], ['multiple', 2])
  })

  test('is invalid when no receiver would take it, and why is said', async () => {
    const weak = base64(rsa(512).export({ format: 'der', type: 'spki' }))
    const wrong: [string, RegExp, string?][] = [
      ['v=DKIM1; p=', /revoked/],
      ['v=DKIM1; k=rsa', /no tag p/],
      [`v=DKIM2; p=${publicKey}`, /version is "DKIM2"/],
      [`k=rsa; v=DKIM1; p=${publicKey}`, /must stand first/],
      [`v=DKIM1; p=${publicKey}; p=${publicKey}`, /tag p stands twice/],
      [`v=DKIM1 p=${publicKey}`, /version is/],
      [`v=DKIM1; rsa; p=${publicKey}`, /"rsa" is not of the form/],
      [`v=DKIM1; h=sha1; p=${publicKey}`, /sha256/],
      [`v=DKIM1; s=tlsrpt; p=${publicKey}`, /email/],
      [`v=DKIM1; k=dsa; p=${publicKey}`, /key type "dsa"/],
      ['v=DKIM1; p=not*base64', /not a key/],
      ['v=DKIM1; p=AAAA', /not a key/],
      [`v=DKIM1; p=${weak}`, /512 bits is too weak/, weak],
    ]
    for (const [record, why, wanted] of wrong) {
      const got = await read([record], wanted)
      assert.equal(got.state, 'invalid', record)
      assert.match(got.explanation, why)
    }
  })

  test('has remarks on a test flag and on 1024 bits', async () => {
    const got = await read([`v=DKIM1; t=s:y; p=${other}`], other)
    assert.deepEqual([got.state, codes(got)], ['ok', ['testing', 'weak_key']])
  })
})
