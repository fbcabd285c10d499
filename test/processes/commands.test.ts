// The commands on a database, beside a service that runs on it.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { makeEmptyDatabase, query } from './empty-database.ts'
import { eventually, linesOf, makePlace, run, start } from './posthorn.ts'

const place = await makePlace({ DATABASE_URL: await makeEmptyDatabase(), POSTHORN_LOG_LEVEL: 'silent' })
const nowhere = { env: { ...place.env, DATABASE_URL: 'postgres://me:hunter2@127.0.0.1:1/d' } }
const change = (statement: string) => query(place.env.DATABASE_URL ?? '', statement)
const say = (...args: string[]) => run(place, ...args)

async function done(...args: string[]): Promise<string> {
  const { code, out, err } = await say(...args)
  assert.deepEqual([code, err], [0, ''], args.join(' '))
  return out
}

const asJson = async (...args: string[]) => JSON.parse(await done(...args, '--json'))

async function refused(...args: string[]): Promise<string> {
  const { code, out, err } = await say(...args)
  assert.deepEqual([code, out, linesOf(err).length], [1, '', 1], err)
  return err
}

test('migrate makes the tables of an empty database and says which, then that there is nothing to do', async () => {
  assert.match(await done('migrate'), /^Applied (\d+) of \1: 0001_/)
  const { applied, total } = await asJson('migrate')
  assert.deepEqual([applied, total >= 3], [[], true])
  assert.match(await done('migrate'), /^Nothing to do: all \d+ migrations are in place\.\n$/)
})

test('a key needs an account; the line says how to get one', async () => {
  assert.match(await refused('key', 'create'), /there is no account yet; .*posthorn account create/)
})

test('accounts and keys made beside a running service work at once', async () => {
  const api = await start(place)
  const statusWith = async (key: string) => (await api.call('GET', '/api/v1/usage', { key })).status
  const usageOf = async (key: string) => (await api.call('GET', '/api/v1/usage', { key })).body

  const made = await done('account', 'create', 'Shop', '--monthly-quota', '500', '--outreach')
  assert.match(made, /^Account \d+ made\./)
  const key = linesOf(made).at(-1) ?? ''
  assert.match(key, /^phk_live_[0-9A-Za-z]{32}$/)
  assert.equal((await usageOf(key)).month.quota, 500)
  assert.match(await refused('account', 'create', 'SHOP'), /an account named "SHOP" already/)

  const other = await asJson('account', 'create', 'Other')
  assert.equal(await statusWith(other.key), 200)
  const accounts = await asJson('account', 'list')
  assert.deepEqual(
    accounts.map((one: { name: string; outreach_enabled: boolean }) => [one.name, one.outreach_enabled]),
    [
      ['default', true],
      ['Shop', true],
      ['Other', false],
    ],
  )
  const table = linesOf(await done('account', 'list'))
  assert.match(table[0] ?? '', /^ID +NAME +OUTREACH +MONTHLY QUOTA +CREATED$/)
  assert.equal(table.length, 4)

  assert.deepEqual(await asJson('account', 'rename', '1', ' Atelier\nHorn '), {
    account: '1',
    name: 'Atelier Horn',
  })
  assert.match(await refused('account', 'rename', '1', 'shop'), /an account named "shop" already/)
  assert.match(await refused('account', 'rename', '99', 'x'), /there is no account "99"/)
  for (const call of [
    ['rename', '1', ' '],
    ['create', ''],
  ]) {
    const { code, err } = await say('account', ...call)
    assert.deepEqual([code, err], [2, 'posthorn: an account needs a name\n'])
  }

  assert.equal(
    await done('account', 'quota', made.split(' ')[1] ?? '', '900'),
    'Account 2 may send 900 messages a month.\n',
  )
  assert.equal((await usageOf(key)).month.quota, 900)
  assert.deepEqual(await asJson('account', 'quota', '2', 'none'), { account: '2', monthly_quota: null })
  assert.equal((await usageOf(key)).month.quota, null)
  assert.match(await refused('account', 'quota', '99', '5'), /there is no account "99"/)

  const limit = await asJson('account', 'limit', other.account, 'usage.get', '3')
  assert.deepEqual(limit, { account: other.account, operation: 'usage.get', per_minute: 3 })
  const limitOf = async () =>
    (await api.call('GET', '/api/v1/usage', { key: other.key })).headers.get('ratelimit-limit')
  await eventually(async () => (await limitOf()) === '3')
  assert.equal(
    await done('account', 'limit', other.account, 'usage.get', 'default'),
    `Account ${other.account} may call usage.get as often as any account.\n`,
  )
  await eventually(async () => (await limitOf()) === '600')
  assert.match(
    await done('account', 'limit', '1', 'v3.account.get', '0'),
    /^Account 1 may call v3\.account\.get 0 times/,
  )
  assert.match(await refused('account', 'limit', '99', 'usage.get', '3'), /there is no account "99"/)
})

test('a key is alone on the last line, and has what was asked for', async () => {
  const options = [
    '--name',
    'shop',
    '--scope',
    'email.send,billing.read',
    '--scope',
    'contacts.read',
    '--daily-cap',
    '7',
  ]
  const domains = ['--sender-domain', 'Shop.example,bücher.example', '--sender-domain', 'other.example']
  const out = await done(
    'key',
    'create',
    ...options,
    ...domains,
    '--expires',
    '2099-01-31T00:00:00Z',
    '--test',
  )
  const key = linesOf(out).at(-1) ?? ''
  assert.match(key, /^phk_test_[0-9A-Za-z]{32}$/)
  assert.ok(out.endsWith(`\n${key}\n`))
  const listed = (await asJson('key', 'list')).find(({ name }: { name: string }) => name === 'shop')
  assert.deepEqual(listed.scopes.sort(), ['billing.read', 'contacts.read', 'email.send'])
  assert.deepEqual(listed.sender_domains.sort(), ['other.example', 'shop.example', 'xn--bcher-kva.example'])
  assert.deepEqual(
    [listed.daily_cap, listed.mode, listed.expires_at],
    [7, 'test', '2099-01-31T00:00:00.000Z'],
  )
  assert.deepEqual([key.startsWith(listed.prefix), listed.revoked_at, listed.account_id], [true, null, '1'])
  assert.doesNotMatch(JSON.stringify(await asJson('key', 'list')), new RegExp(key))
  const line = linesOf(await done('key', 'list')).find((one) => one.includes(' shop '))
  assert.match(line ?? '', /until 2099-01-31/)
})

test('a key of another account, and one that has expired', async () => {
  const { account, key } = await asJson('key', 'create', '--account', '2', '--expires', '2099-01-01')
  assert.equal(account, '2')
  await change(`update api_keys set expires_at = '2020-01-01Z' where expires_at > now() and account_id = 2`)
  const keys = await asJson('key', 'list', '--account', '2')
  assert.ok(keys.every((one: { account_id: string }) => one.account_id === '2'))
  assert.ok(keys.some(({ prefix }: { prefix: string }) => key.startsWith(prefix)))
  assert.match(await done('key', 'list', '--account', '2'), /expired 2020-01-01/)
  assert.match(await refused('key', 'create', '--account', 'nobody'), /there is no account "nobody"/)
})

test('a key is changed: what is given, and nothing else', async () => {
  const made = [
    '--name',
    'old',
    '--scope',
    'email.send',
    '--daily-cap',
    '7',
    '--sender-domain',
    'shop.example',
  ]
  const { id, key, prefix, account } = await asJson('key', 'create', ...made)
  const listed = { id, account, name: 'old', sender_domains: ['shop.example'], expires_at: null }
  const wider = ['--scope', 'email.send', '--scope', 'billing.read', '--daily-cap', '9']
  assert.deepEqual(await asJson('key', 'change', key, ...wider), {
    ...listed,
    scopes: ['email.send', 'billing.read'],
    daily_cap: 9,
  })
  const free = ['--name', 'new', '--scope', 'all', '--daily-cap', 'none', '--sender-domain', 'none']
  assert.match(
    await done('key', 'change', prefix, ...free, '--expires', '2099-01-31'),
    new RegExp(`^Changed ${id}\\.`),
  )
  const changed = await asJson('key', 'change', id, '--expires', 'none')
  const open = { scopes: null, daily_cap: null, sender_domains: null, expires_at: null }
  assert.deepEqual(changed, { id, account, name: 'new', ...open })
  assert.equal((await say('key', 'change', id)).code, 2)
  assert.match(await refused('key', 'change', 'phk_live_none', '--name', 'x'), /there is no active key/)
})

test('a key is revoked by its id, by its shown beginning or by the whole of it, and not twice', async () => {
  const [byId, byPrefix] = [await asJson('key', 'create'), await asJson('key', 'create')]
  const whole = await asJson('key', 'create')
  assert.deepEqual(await asJson('key', 'revoke', whole.key), { revoked: whole.id })
  assert.doesNotMatch(await refused('key', 'revoke', whole.key), new RegExp(whole.key))
  assert.deepEqual(await asJson('key', 'revoke', byId.id), { revoked: byId.id })
  assert.match(await done('key', 'revoke', `${byPrefix.prefix}…`), new RegExp(`^Revoked ${byPrefix.id}\\.`))
  assert.match(await refused('key', 'revoke', byId.id), /there is no active key .*posthorn key list/)
  const states = await asJson('key', 'list')
  const revoked = states.filter((one: { revoked_at: string | null }) => one.revoked_at !== null)
  assert.deepEqual(
    revoked.map(({ id }: { id: string }) => id).sort(),
    [byId.id, byPrefix.id, whole.id].sort(),
  )
})

test('doctor finds the database and ends with 0; without one it ends with 1 and says what to mend', async () => {
  const report = await asJson('doctor')
  assert.equal(report.ok, true)
  const state = Object.fromEntries(
    report.checks.map((one: { name: string; state: string }) => [one.name, one.state]),
  )
  for (const name of ['node', 'configuration', 'database', 'clock', 'media storage'])
    assert.equal(state[name], 'ok', name)
  assert.match(await done('doctor'), /^ok {4}database +external, PostgreSQL \d+/m)

  const failed = await run(nowhere, 'doctor')
  assert.deepEqual([failed.code, failed.err], [1, ''])
  assert.match(failed.out, /^FAIL {2}database .*ECONNREFUSED(.|\n)*→ check DATABASE_URL/m)
  assert.doesNotMatch(failed.out, /hunter2/)
  const json = await run(nowhere, 'doctor', '--json')
  assert.deepEqual([json.code, JSON.parse(json.out).ok], [1, false])
})

test('doctor fails where the service could not work on the database', async () => {
  const other = await run({ env: { ...place.env, POSTHORN_SECRET_KEY: '5e'.repeat(32) } }, 'doctor')
  assert.equal(other.code, 1)
  assert.match(
    other.out,
    /^FAIL {2}secret key +the database knows another one.*\n +→ set POSTHORN_SECRET_KEY/m,
  )
  await change(`insert into dkim_keys values (1, 'lost.example', 'ph1', '\\x0100000000')`)
  const lost = await say('doctor')
  assert.equal(lost.code, 1)
  assert.match(lost.out, /^FAIL {2}secret key +some secrets .*: those of DKIM keys \(1\)\n +→ Put that key/m)
  await change(`delete from dkim_keys where domain = 'lost.example'`)
  const url = new URL(place.env.DATABASE_URL ?? '')
  url.searchParams.set('options', '-c default_transaction_read_only=on')
  const reading = { env: { ...place.env, DATABASE_URL: url.href } }
  const report = await run(reading, 'doctor')
  assert.equal(report.code, 1)
  assert.match(report.out, /^FAIL {2}database +the database takes no writes: use the primary/m)
  const { code, err } = await run(reading, 'start')
  assert.deepEqual([code, linesOf(err).length], [1, 1], err)
  assert.match(err, /^posthorn: the database takes no writes/)
})

test('a database of another version is not touched by commands, and doctor tells it', async () => {
  const databaseUrl = await makeEmptyDatabase()
  const other = { env: { ...place.env, DATABASE_URL: databaseUrl } }
  assert.equal((await run(other, 'migrate')).code, 0)
  const set = (statement: string) => query(databaseUrl, statement)
  await set('delete from schema_migrations where name >= (select max(name) from schema_migrations)')
  const listed = await run(other, 'key', 'list')
  assert.deepEqual([listed.code, listed.out], [1, ''])
  assert.match(listed.err, /^posthorn: the database is of an older version, 1 migration is missing: stop/)
  const older = await run(other, 'doctor')
  assert.equal(older.code, 0)
  assert.match(older.out, /^warn {2}database .*of an older version.*\n +→ stop .*posthorn migrate/m)
  await set(`insert into schema_migrations values ('9999_future.sql', 'x')`)
  const newer = await run(other, 'doctor')
  assert.equal(newer.code, 1)
  assert.match(newer.out, /^FAIL {2}database +the database has 9999_future\.sql.*start a newer Posthorn/m)
})

test('migrate names the variable of a database that cannot be reached', async () => {
  const { code, err } = await run(nowhere, 'migrate')
  assert.equal(code, 1)
  assert.match(err, /^posthorn: DATABASE_URL must lead to a PostgreSQL server .*ECONNREFUSED/)
})

test('whoever stops reading does not hear of it', async () => {
  const program = fileURLToPath(new URL('../../bin/posthorn.js', import.meta.url))
  const child = spawn(process.execPath, [program, '--help'], { stdio: ['ignore', 'pipe', 'pipe'] })
  child.stdout.destroy()
  const said = text(child.stderr)
  const [code] = await once(child, 'close')
  assert.deepEqual([code, await said], [0, ''])
})

test('doctor tells every wrong setting', async () => {
  const wrong = { env: { ...place.env, POSTHORN_PORT: 'x', POSTHORN_LOG_LEVEL: 'y' } }
  const { code, out } = await run(wrong, 'doctor')
  assert.equal(code, 1)
  assert.equal(linesOf(out).filter((line) => /^FAIL {2}configuration +POSTHORN_/.test(line)).length, 2)
  const odd = await run({ env: { ...place.env, POSTHORN_PROT: '1' } }, 'doctor')
  assert.equal(odd.code, 0)
  assert.match(odd.out, /^warn {2}configuration +POSTHORN_PROT is unknown; did you mean POSTHORN_PORT\?/m)
})

test('a wrong call ends with 2, what cannot be done with 1, each with one line', async () => {
  const [wrong, unknown, bare, away] = await Promise.all([
    say('strat'),
    say('account', 'limit', '1', 'usage.gte', '5'),
    say('account', 'limit', '1', 'sms.send', '5'),
    run(nowhere, 'account', 'create', 'shop'),
  ])
  assert.deepEqual([wrong.code, wrong.err], [2, "posthorn: unknown command 'strat' (Did you mean start?)\n"])
  const meant = 'posthorn: there is no operation "usage.gte"; did you mean usage.get?\n'
  assert.deepEqual([unknown.code, unknown.err], [1, meant])
  assert.match(bare.err, /no operation "sms\.send"; did you mean v3\.sms\.send\?$/m)
  assert.deepEqual([away.code, away.out], [1, ''])
  assert.match(away.err, /^posthorn: [^\n]*127\.0\.0\.1:1\n$/)
})
