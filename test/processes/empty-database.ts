// A database without a single table, on the tests' own server; dropped when the file's tests are over.
import { randomBytes } from 'node:crypto'
import { after } from 'node:test'
import pg from 'pg'

const server = process.env.POSTHORN_TEST_SERVER ?? ''
if (!server) throw new Error('run the tests with: npm test [-- FILE…]')

export async function makeEmptyDatabase(): Promise<string> {
  const name = `test_${randomBytes(6).toString('hex')}`
  await query(addressOf('postgres'), `create database ${name}`)
  after(() => query(addressOf('postgres'), `drop database ${name} with (force)`))
  return addressOf(name)
}

export async function query<R extends pg.QueryResultRow>(
  url: string,
  statement: string,
  values: unknown[] = [],
) {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 5_000 })
  await client.connect()
  try {
    return (await client.query<R>(statement, values)).rows
  } finally {
    await client.end()
  }
}

function addressOf(database: string): string {
  const url = new URL(server)
  url.pathname = `/${database}`
  return url.href
}
