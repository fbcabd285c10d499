import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import { after, test } from 'node:test'
import { makeEmptyDatabase, query } from '../../test/processes/empty-database.ts'
import { openPool } from './db.ts'
import { translate } from './outage.ts'
import { sql } from './sql.ts'

const url = new URL(await makeEmptyDatabase())
const role = `guest_of_${url.pathname.slice(1)}`
await query(url.href, `create role ${role} login password 'open' connection limit 0`)
after(() => query(addressWith({ pathname: '/postgres' }), `drop role ${role}`))

const addressWith = (change: Partial<Pick<URL, 'username' | 'password' | 'pathname'>>) =>
  Object.assign(new URL(url), change).href

const told: string[] = []

/** What a call is told when the server at that address does not take it in. */
async function askedAt(address: string): Promise<Error> {
  const onOutage = ({ message }: Error, reason: Error) => told.push(`${message}: ${reason.message}`)
  const settings = { max: 1, name: 'test', durable: true, checkRows: true, onError: () => {}, onOutage }
  const pool = openPool({ url: address, ...settings })
  const failures = await Promise.allSettled([
    pool.run(sql`select 1`),
    pool.transaction((tx) => tx.run(sql`select 1`)),
  ])
  await pool.close()
  const [first, second] = failures.map((one) => (one.status === 'rejected' ? one.reason : undefined))
  assert.deepEqual([first?.code, second?.message], ['database_unavailable', first?.message])
  return first
}

test('a server that does not take us in is as good as away, and why is told to whoever logs it', async () => {
  for (const [address, says] of [
    [addressWith({ password: 'changed' }), /: password authentication failed for user/],
    [addressWith({ pathname: '/renamed' }), /: database "renamed" does not exist/],
    [addressWith({ username: role, password: 'open' }), /connections .* are taken.*: too many connections/],
  ] as const) {
    await askedAt(address)
    assert.match(told.splice(0).join(), says)
  }
})

test('so is one whose socket is not there: it goes with the server and comes with it', async () => {
  const host = encodeURIComponent(`${tmpdir()}/of-no-server`)
  await askedAt(`postgres://posthorn:x@${host}:5432/posthorn?sslmode=disable`)
  assert.match(told.splice(0).join(), /: connect ENOENT/)
})

test('a server whose certificate has run out is away as well; any other error stays what it is', () => {
  const isOutage = (code: string) => {
    try {
      translate(Object.assign(new Error('x'), { code }))
    } catch (error) {
      return error instanceof Error && 'code' in error && error.code === 'database_unavailable'
    }
  }
  for (const code of ['CERT_HAS_EXPIRED', 'ERR_TLS_CERT_ALTNAME_INVALID', 'SELF_SIGNED_CERT_IN_CHAIN'])
    assert.ok(isOutage(code), code)
  for (const code of ['23505', '42601', 'ERR_INVALID_ARG_TYPE', '']) assert.ok(!isOutage(code), code)
})
