import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { isIP } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { openTlsPair } from '../../src/main/tls-pair.ts'

const folder = await mkdtemp(join(tmpdir(), 'posthorn-tls-'))
after(() => rm(folder, { recursive: true, force: true }))
const now = new Date('2026-11-15T12:00:00Z')
const dataDir = join(folder, 'data')
const [certFile, keyFile] = [join(dataDir, 'tls-cert.pem'), join(dataDir, 'tls-key.pem')]

const told: string[] = []
const log = {
  warn: (about: object, text: string) => void told.push(`${JSON.stringify(about)} ${text}`),
} as never
const open = (more: { tlsCert?: string; tlsKey?: string; now?: Date; host?: string } = {}) =>
  openTlsPair({ tlsCert: undefined, tlsKey: undefined, dataDir, host: '127.0.0.1', now, log, ...more })

test('a pair is made once, for ten years, its key for nobody else, and used again', async () => {
  const made = await open()
  const certificate = new X509Certificate(made.cert)
  assert.equal(certificate.subject, 'CN=127.0.0.1')
  assert.equal(new Date(certificate.validTo).getUTCFullYear(), 2036)
  assert.equal(certificate.checkIP('127.0.0.1'), '127.0.0.1')
  assert.equal((await stat(keyFile)).mode & 0o777, 0o600)
  assert.deepEqual(await open(), made)
  assert.deepEqual({ cert: await readFile(certFile, 'utf8'), key: await readFile(keyFile, 'utf8') }, made)
})

test('one that has expired, or is no pair, is made anew', async () => {
  const first = await open()
  const later = new Date('2037-01-01T00:00:00Z')
  const second = await open({ now: later, host: 'mail.example.com' })
  assert.notEqual(second.cert, first.cert)
  assert.equal(new X509Certificate(second.cert).checkHost('mail.example.com'), 'mail.example.com')
  await writeFile(keyFile, first.key)
  assert.notEqual((await open({ now: later })).cert, second.cert)
})

test('one for another name than the service has by now is made anew', async () => {
  const first = await open()
  for (const host of ['mail.example.com', '192.0.2.7', '2001:db8::7', 'my_host', 'localhost']) {
    const made = await open({ host })
    assert.notEqual(made.cert, first.cert)
    const certificate = new X509Certificate(made.cert)
    assert.equal(isIP(host) === 0 ? certificate.checkHost(host) : certificate.checkIP(host), host)
    assert.match(told.at(-1) ?? '', new RegExp(`${host}.*made anew`))
    assert.deepEqual(await open({ host }), made)
  }
  const made = await open({ host: '[2001:db8::7]' })
  assert.equal(new X509Certificate(made.cert).checkIP('2001:db8::7'), '2001:db8::7')
  assert.deepEqual(await open({ host: '2001:db8::7' }), made)
})

test('the operator’s own pair is used; half of one, a missing file and a wrong key stop the start', async () => {
  const made = await open()
  const [tlsCert, tlsKey, other] = [join(folder, 'c.pem'), join(folder, 'k.pem'), join(folder, 'other.pem')]
  await writeFile(tlsCert, made.cert)
  await writeFile(tlsKey, made.key)
  await writeFile(other, 'no key')
  assert.deepEqual(await open({ tlsCert, tlsKey }), made)
  await assert.rejects(open({ tlsCert }), /^Error: POSTHORN_TLS_KEY is missing/)
  await assert.rejects(open({ tlsKey }), /^Error: POSTHORN_TLS_CERT is missing/)
  await assert.rejects(open({ tlsCert, tlsKey: join(folder, 'none') }), /POSTHORN_TLS_KEY must .*ENOENT/)
  await assert.rejects(open({ tlsCert, tlsKey: other }), /POSTHORN_TLS_CERT and POSTHORN_TLS_KEY must/)
})
