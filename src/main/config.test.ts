import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  baseUrlOf,
  ConfigFault,
  readConfig,
  refuseSamePorts,
  settings,
  settingsHelp,
  unknownVariables,
} from './config.ts'

type Case = { good: Record<string, unknown>; bad: string[] }

const key = 'x'.repeat(24)

// Each variable with values it takes, each with what is read from it, and values it refuses.
const cases: Record<string, Case> = {
  POSTHORN_HOST: {
    good: { '127.0.0.1': '127.0.0.1', '::': '::', localhost: 'localhost' },
    bad: ['a b', 'http://x'],
  },
  POSTHORN_PORT: { good: { 0: 0, 1: 1, 65535: 65535 }, bad: ['65536', '-1', '80a', '1.5', '0x50', '999999'] },
  POSTHORN_SMTP_HOST: { good: { '0.0.0.0': '0.0.0.0' }, bad: ['a b', 'smtp://x'] },
  POSTHORN_SMTP_PORT: { good: { 0: 0, 2525: 2525 }, bad: ['65536', 'smtp'] },
  POSTHORN_SMTPS_PORT: { good: { 465: 465 }, bad: ['65536', 'off'] },
  POSTHORN_TLS_CERT: { good: { '/etc/cert.pem': '/etc/cert.pem' }, bad: [] },
  POSTHORN_TLS_KEY: { good: { '/etc/key.pem': '/etc/key.pem' }, bad: [] },
  POSTHORN_BASE_URL: {
    good: { 'https://mail.example.com/': 'https://mail.example.com', 'http://h:1/p//': 'http://h:1/p' },
    bad: [
      'mail.example.com',
      'ftp://h',
      'https://',
      '/path',
      'https://h/?a=b',
      'https://h/#x',
      'https://u:p@h',
      'https://u@h',
    ],
  },
  POSTHORN_DATA_DIR: {
    good: { '/var/lib/posthorn': '/var/lib/posthorn', ' ./x ': './x' },
    bad: ['~/x', '~'],
  },
  DATABASE_URL: {
    good: { 'postgres://u:p@h:5432/d': 'postgres://u:p@h:5432/d', 'postgresql://h/d': 'postgresql://h/d' },
    bad: ['mysql://h/d', 'h:5432', 'postgres'],
  },
  POSTHORN_API_KEY: {
    good: { [key]: key, [`${'k'.repeat(255)}`]: 'k'.repeat(255) },
    bad: ['short', 'x'.repeat(23), 'x'.repeat(256), `with a space ${key}`, `ümläut${key}`, `\u0007${key}`],
  },
  POSTHORN_TRANSPORT: { good: { capture: 'capture' }, bad: ['Capture', 'pigeon', 'gopher://h'] },
  POSTHORN_MEDIA_STORAGE: {
    good: {
      disk: { kind: 'disk' },
      's3://pictures': { kind: 's3', bucket: 'pictures', prefix: '' },
      's3://my.pictures/mail/media/': { kind: 's3', bucket: 'my.pictures', prefix: 'mail/media' },
    },
    bad: ['Disk', 's3://', 's3:///x', 's3://Upper', 's3://b/a b', 'https://b', '/var/media'],
  },
  POSTHORN_S3_ENDPOINT: {
    good: { 'http://127.0.0.1:9000/': 'http://127.0.0.1:9000' },
    bad: ['127.0.0.1:9000'],
  },
  POSTHORN_RETRY_FACTOR: { good: { 1: 1, 0.001: 0.001 }, bad: ['0', '-1', 'x'] },
  POSTHORN_RATE_LIMIT_FACTOR: {
    good: { 1: 1, 0.5: 0.5, 1000: 1000 },
    bad: ['0', '-1', 'x', '1e9', 'NaN', '1,5'],
  },
  POSTHORN_DNS: {
    good: {
      '127.0.0.1:53': ['127.0.0.1:53'],
      '9.9.9.9, [::1]:53': ['9.9.9.9', '[::1]:53'],
      'localhost:5353': ['localhost:5353'],
    },
    bad: ['non sense', '-a:53', '[127.0.0.1', '127.0.0.1:99999', '9.9.9.9,,1.1.1.1', '300.0.0.1'],
  },
  POSTHORN_SCALEWAY_SMTP: {
    good: { 'smtp://u:p@h:25': 'smtp://u:p@h:25' },
    bad: ['capture', 'ses://x', 'x'],
  },
  POSTHORN_METRICS_TOKEN: { good: { 'a token': 'a token' }, bad: [] },
  POSTHORN_TRUSTED_PROXIES: { good: { 0: 0, 2: 2 }, bad: ['-1', 'all', '1.5'] },
  POSTHORN_LOG_LEVEL: { good: { debug: 'debug', silent: 'silent' }, bad: ['INFO', 'loud', 'trace'] },
}

function readOne(env: string, given: string): unknown {
  const config: Record<string, unknown> = readConfig({ [env]: given })
  const [name] = Object.entries(settings).find(([, one]) => one.env === env) ?? []
  return config[name ?? '']
}

function faultsOf(env: Record<string, string>): string[] {
  try {
    readConfig(env)
  } catch (error) {
    if (error instanceof ConfigFault) return error.message.split('\n')
    throw error
  }
  return []
}

describe('each setting', () => {
  for (const [env, { good, bad }] of Object.entries(cases)) {
    test(`${env} takes what it should`, () => {
      for (const [given, read] of Object.entries(good)) assert.deepEqual(readOne(env, given), read, given)
    })

    if (bad.length === 0) continue
    test(`${env} refuses what it should, in one line that says what is accepted`, () => {
      for (const given of bad) {
        const faults = faultsOf({ [env]: given })
        assert.equal(faults.length, 1, `${given}: ${faults}`)
        assert.match(faults[0] ?? '', new RegExp(`^${env} must `))
      }
    })
  }

  test('all have a default or may be absent', () => {
    const config = readConfig({})
    assert.deepEqual([config.host, config.port, config.dataDir], ['127.0.0.1', 8025, './data'])
    assert.deepEqual([config.transport, config.rateLimitFactor, config.logLevel], ['capture', 1, 'info'])
    assert.deepEqual([config.databaseUrl, config.apiKey, config.baseUrl], [undefined, undefined, undefined])
  })

  test('an empty value is no value', () => {
    assert.deepEqual(readConfig({ POSTHORN_PORT: '', POSTHORN_API_KEY: '  ' }), readConfig({}))
  })
})

test('all wrong settings are told at once, a line each', () => {
  const faults = faultsOf({ POSTHORN_PORT: 'x', POSTHORN_LOG_LEVEL: 'loud', POSTHORN_API_KEY: 'short' })
  assert.deepEqual(faults.map((line) => line.split(' ')[0]).sort(), [
    'POSTHORN_API_KEY',
    'POSTHORN_LOG_LEVEL',
    'POSTHORN_PORT',
  ])
})

test('two listeners of one process cannot share a port', () => {
  const both = { http: true, smtp: true }
  const attempt =
    (env: Record<string, string>, listens = both) =>
    () =>
      refuseSamePorts(readConfig(env), listens)
  const shared = { POSTHORN_PORT: '2525' }
  assert.throws(attempt(shared), /^Error: POSTHORN_SMTP_PORT must differ from POSTHORN_PORT, not "2525"$/)
  assert.throws(attempt({ POSTHORN_SMTPS_PORT: '2525' }), /POSTHORN_SMTPS_PORT must differ/)
  attempt(shared, { http: true, smtp: false })()
  attempt({ POSTHORN_PORT: '0', POSTHORN_SMTP_PORT: '0' })()
  attempt({ POSTHORN_PORT: '2525', POSTHORN_SMTP_HOST: '127.0.0.2' })()
})

test('a line shows the wrong value, but never one that may hold a secret', () => {
  assert.match(faultsOf({ POSTHORN_PORT: '8o25' })[0] ?? '', /"8o25"/)
  const secrets = {
    POSTHORN_API_KEY: 'hunter2',
    DATABASE_URL: 'mysql://me:hunter2@h/d',
    POSTHORN_TRANSPORT: 'smpt://me:hunter2@h:25',
    POSTHORN_BASE_URL: 'https://me:hunter2@h',
  }
  const faults = faultsOf(secrets)
  assert.equal(faults.length, Object.keys(secrets).length)
  for (const url of [
    'smtp://me:hunter2@',
    'smtp://me:hunter2@h:99999',
    'smtp://me:hunter2@h/path?x',
    'smtps:hunter2',
  ])
    faults.push(...faultsOf({ POSTHORN_TRANSPORT: url }))
  for (const line of faults) assert.doesNotMatch(line, /hunter2/)
})

test('a line says how far a number may go, and of a relay only what it may be', () => {
  assert.match(faultsOf({ POSTHORN_AUDIT_DAYS: '-1' })[0] ?? '', /a whole number from 0 to 999999, not "-1"$/)
  const relay = 'POSTHORN_SCALEWAY_SMTP must be smtp://user:password@host:port or smtps://…'
  assert.deepEqual(faultsOf({ POSTHORN_SCALEWAY_SMTP: 'x' }), [relay])
})

test('a value of several lines stays on one', () => {
  assert.equal(faultsOf({ POSTHORN_LOG_LEVEL: 'a\nb' }).length, 1)
})

test('an unknown variable is told with the name that was probably meant, and refuses nothing', () => {
  const env = { POSTHORN_PROT: '1', POSTHORN_SOMETHING_ELSE: '1', POSTHORN_PORT: '1', OTHER: '1' }
  assert.deepEqual(unknownVariables(env), [
    'POSTHORN_PROT is unknown; did you mean POSTHORN_PORT?',
    'POSTHORN_SOMETHING_ELSE is unknown to this version',
  ])
  assert.equal(readConfig(env).port, 1)
})

test('links begin with the public address, or with where the service listens', () => {
  const of = (env: Record<string, string>) => baseUrlOf(readConfig(env), 8025)
  assert.equal(of({}), 'http://127.0.0.1:8025')
  assert.equal(of({ POSTHORN_HOST: '::1' }), 'http://[::1]:8025')
  assert.equal(of({ POSTHORN_HOST: '0.0.0.0' }), 'http://localhost:8025')
  assert.equal(of({ POSTHORN_HOST: '::' }), 'http://localhost:8025')
  assert.equal(of({ POSTHORN_BASE_URL: 'https://mail.example.com/' }), 'https://mail.example.com')
})

test('the help names every setting with its meaning and default', () => {
  const help = settingsHelp()
  const columns = help
    .split('\n')
    .slice(1)
    .map((line) => line.search(/(?<=^ {2}\S+ +)\S/))
  assert.equal(new Set(columns).size, 1, help)
  for (const { env, doc, default: fallback } of Object.values(settings)) {
    assert.ok(help.includes(env) && help.includes(doc), env)
    if (fallback !== undefined) assert.ok(help.includes(`(${fallback})`), env)
  }
})

test('the public address is written as it can stand in the header of a message', () => {
  const baseUrlFor = (given: string) => readConfig({ POSTHORN_BASE_URL: given }).baseUrl
  assert.equal(baseUrlFor('https://Bücher.example/p é/'), 'https://xn--bcher-kva.example/p%20%C3%A9')
  assert.equal(baseUrlFor('https://mail.example.com/a"<b>'), 'https://mail.example.com/a%22%3Cb%3E')
  for (const same of ['http://127.0.0.1:8025', 'https://mail.example.com', 'http://[::1]:80/a%20b'])
    assert.equal(baseUrlFor(same), same.replace(':80/', '/'))
})
