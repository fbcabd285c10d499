import assert from 'node:assert/strict'
import { describe, mock, test } from 'node:test'
import { main } from './cli.ts'
import { settings } from './config.ts'

type Said = { code: number; out: string; err: string }

/** Runs a command line in this process. Only calls that end before they need a database. */
async function say(...args: string[]): Promise<Said> {
  const said = { out: '', err: '' }
  const [stdout, stderr] = [process.stdout.write, process.stderr.write]
  // The test runner reports over the same channel, in bytes; commands write text.
  mock.method(process.stdout, 'write', (chunk: string | Uint8Array) => {
    if (typeof chunk !== 'string') return stdout.call(process.stdout, chunk)
    said.out += chunk
    return true
  })
  mock.method(process.stderr, 'write', (chunk: string | Uint8Array) => {
    if (typeof chunk !== 'string') return stderr.call(process.stderr, chunk)
    said.err += chunk
    return true
  })
  const before = process.exitCode
  process.exitCode = 0
  await main(['node', 'posthorn', ...args])
  const code = process.exitCode
  process.exitCode = before
  mock.restoreAll()
  return { ...said, code }
}

// Each command with what its help must mention.
const taught: Record<string, string[]> = {
  start: ['--role', 'api', 'worker', '--json', ...Object.values(settings).map((one) => one.env)],
  migrate: ['--json'],
  'account create': ['[name]', '--name', '--outreach', '--monthly-quota <n>', '--json'],
  'account list': ['--json'],
  'account limit': ['<account>', '<operation>', '<per-minute>', '--json'],
  'account quota': ['<account>', '<per-month>', 'none', '--json'],
  'key create': [
    '--account',
    '--name',
    '--scope',
    'email.send',
    '--daily-cap',
    '--sender-domain',
    '--expires',
    '--test',
    'POST /v3/contacts/doubleOptinConfirmation',
    'POST /v3/senders',
  ],
  'key list': ['--account', '--json'],
  'key revoke': ['<key>', '--json'],
  'key change': [
    '<key>',
    '--name',
    '--scope',
    '--daily-cap',
    '--sender-domain',
    '--expires',
    'none',
    '--json',
  ],
  backup: ['<file>', '--json'],
  restore: ['<file>', '--force', '--json'],
  'import-brevo': ['--key <key>', '--from <url>', '--account <id>', '--dry-run', '--json'],
  doctor: ['--json'],
}

describe('the help', () => {
  for (const [command, words] of Object.entries(taught)) {
    test(`of posthorn ${command} names its options and gives an example`, async () => {
      const { code, out, err } = await say(...command.split(' '), '--help')
      assert.deepEqual([code, err], [0, ''])
      assert.ok(out.startsWith(`Usage: posthorn ${command} `), out)
      assert.match(out, /^Examples?:\n {2}.*posthorn /m)
      for (const word of words) assert.ok(out.includes(word), word)
      assert.ok(out.split('\n').every((line) => line.length <= 120))
    })
  }

  test('of the program and of a group lists every command below it', async () => {
    const whole = (await say('--help')).out
    for (const word of ['start', 'migrate', 'account', 'key', 'backup', 'restore', 'doctor', 'Examples:'])
      assert.ok(whole.includes(word))
    const account = (await say('account', '--help')).out
    for (const word of ['create', 'list', 'limit']) assert.ok(account.includes(word), word)
    const key = (await say('key', '--help')).out
    for (const word of ['create', 'list', 'revoke']) assert.ok(key.includes(word), word)
  })
})

test('the version stands alone', async () => {
  assert.match((await say('--version')).out, /^\d+\.\d+\.\d+\n$/)
})

// Each wrong call with what its one line must say. None gets as far as a database.
const wrong: [string, RegExp][] = [
  ['strat', /unknown command 'strat' \(Did you mean start\?\)/],
  ['account lst', /unknown command 'lst' \(Did you mean list\?\)/],
  ['key creat', /unknown command 'creat' \(Did you mean create\?\)/],
  ['start --rol api', /unknown option '--rol' \(Did you mean --role\?\)/],
  ['key create --daly-cap 5', /unknown option '--daly-cap' \(Did you mean --daily-cap\?\)/],
  ['key create --scope email.sned', /There is no scope email\.sned\. Did you mean email\.send\?/],
  ['key create --scope email.send,zebra', /There is no scope zebra\. Known: email\.send, /],
  ['key create --daily-cap many', /must be a whole number/],
  ['key create --daily-cap -1', /must be a whole number|unknown option/],
  ['key create --expires tomorrow', /ISO 8601/],
  ['key create --expires 2027-02-31T25:00:00Z', /ISO 8601/],
  ['key create --expires 2099-02-30', /ISO 8601/],
  ['key create --expires 2099-02-30T00:00:00Z', /ISO 8601/],
  ['key create --expires 2020-01-01', /in the future; posthorn key revoke ends/],
  ['key change phk_live_Ab3d --expires 2020-01-01T00:00:00Z', /in the future/],
  ['import-brevo --key ', /must not be empty/],
  ['help', /unknown command 'help'; see: posthorn --help$/m],
  ['key create --scope ', /must not be empty/],
  ['key create --scope ,', /must not be empty/],
  ['key create --sender-domain ', /must not be empty/],
  ['key create --name ', /must have 1 to 100 characters/],
  [`key create --name ${'x'.repeat(300)}`, /must have 1 to 100 characters/],
  ['key change phk_live_Ab3d --daily-cap lots', /must be a whole number/],
  ['account quota 1 lots', /must be a whole number .* The word none takes the bound away/],
  ['key create --sender-domain not_a_domain', /is not a domain/],
  ['key create --sender-domain shop.example/x', /is not a domain/],
  ['account create --name ', /must not be empty/],
  ['account create a b', /too many arguments/],
  ['account limit 1 usage.get lots', /must be a whole number/],
  ['account limit 1 usage.get', /missing required argument 'per-minute'/],
  ['key revoke', /missing required argument 'key'/],
  ['doctor now', /too many arguments/],
]

describe('a wrong call ends with 2 and one line that says what is wrong', () => {
  for (const [call, says] of wrong) {
    test(`posthorn ${call}`, async () => {
      const { code, out, err } = await say(...call.split(' '))
      assert.deepEqual([code, out], [2, ''])
      assert.match(err, /^posthorn: [^\n]+\n$/)
      assert.match(err, says)
    })
  }
})
