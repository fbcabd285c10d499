// What the command line says to who asks, and to who errs.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { settings } from '../../src/main/config.ts'
import { linesOf, run } from './posthorn.ts'

const env = { PATH: process.env.PATH ?? '', DATABASE_URL: 'postgres://nobody@127.0.0.1:1/nothing' }
const say = (...args: string[]) => run({ env }, ...args)

// Each command with what its help must mention.
const taught: Record<string, string[]> = {
  start: ['--role', 'api', 'worker', '--json', ...Object.values(settings).map((one) => one.env)],
  migrate: ['--json'],
  'account create': ['<name>', '--outreach', '--monthly-quota <n>', '--json'],
  'account list': ['--json'],
  'account limit': ['<account>', '<operation>', '<per-minute>', '--json'],
  'key create': [
    '--account',
    '--name',
    '--scope',
    'email.send',
    '--daily-cap',
    '--sender-domain',
    '--expires',
    '--test',
  ],
  'key list': ['--account', '--json'],
  'key revoke': ['<key>', '--json'],
  doctor: ['--json'],
}

test('the help of every command names its options and gives an example that begins with posthorn', async () => {
  const helps = await Promise.all(
    Object.keys(taught).map(async (command) => ({
      command,
      ...(await say(...command.split(' '), '--help')),
    })),
  )
  for (const { command, code, out, err } of helps) {
    assert.deepEqual([code, err], [0, ''], command)
    assert.match(out, new RegExp(`^Usage: posthorn ${command}`))
    assert.match(out, /^Examples?:\n {2}.*posthorn /m, command)
    for (const word of taught[command] ?? []) assert.ok(out.includes(word), `${command}: ${word}`)
    assert.ok(
      linesOf(out).every((line) => line.length <= 120),
      command,
    )
  }
})

test('the help of the program and of a group lists every command below it', async () => {
  const [whole, account, key] = await Promise.all([
    say('--help'),
    say('account', '--help'),
    say('key', '--help'),
  ])
  for (const word of ['start', 'migrate', 'account', 'key', 'doctor', 'Examples:'])
    assert.ok(whole.out.includes(word))
  for (const word of ['create', 'list', 'limit']) assert.ok(account.out.includes(word), word)
  for (const word of ['create', 'list', 'revoke']) assert.ok(key.out.includes(word), word)
  assert.match((await say('--version')).out, /^\d+\.\d+\.\d+\n$/)
})

describe('a wrong call ends with 2 and one line that says what was meant', () => {
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
    ['key create --sender-domain not_a_domain', /is not a domain/],
    ['key create --sender-domain shop.example/x', /is not a domain/],
    ['account create', /missing required argument 'name'/],
    ['account create a b', /too many arguments/],
    ['account limit 1 usage.get lots', /must be a whole number/],
    ['account limit 1 usage.get', /missing required argument 'per-minute'/],
    ['key revoke', /missing required argument 'key'/],
    ['doctor now', /too many arguments/],
  ]
  for (const [call, says] of wrong) {
    test(`posthorn ${call}`, async () => {
      const { code, out, err } = await say(...call.split(' '))
      assert.deepEqual([code, out, linesOf(err).length], [2, '', 1], err)
      assert.match(err, /^posthorn: /)
      assert.match(err, says)
    })
  }
})

test('what cannot be done ends with 1 and one line', async () => {
  for (const call of ['key list', 'migrate', 'account create shop']) {
    const { code, out, err } = await say(...call.split(' '))
    assert.deepEqual([code, out, linesOf(err).length], [1, '', 1], err)
    assert.match(err, /^posthorn: .*127\.0\.0\.1:1/)
  }
  const { code, err } = await say('account', 'limit', '1', 'usage.gte', '5')
  assert.deepEqual([code, err], [1, 'posthorn: there is no operation "usage.gte"; did you mean usage.get?\n'])
})
