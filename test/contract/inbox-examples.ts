import { makeOutreach } from '../../src/features/outreach/watching/fixtures/outreach.ts'
import { readId } from '../../src/kernel/id.ts'
import { row, text } from '../../src/kernel/row.ts'
import { sql } from '../../src/kernel/sql.ts'
import type { App } from '../app.ts'
import type { Dovecot } from '../stand-ins/dovecot.ts'
import type { Example } from './examples.ts'

const path = '/v3/outreach/inbox'

export const inboxExamples: Record<string, Partial<Example>> = {
  'v3.inbox.get': { path: `${path}/1` },
  'v3.inbox.update': { path: `${path}/1`, body: { state: 'read' } },
  'v3.inbox.reply': { path: `${path}/1/reply`, body: { text: 'Thank you.' } },
}

/** A reply of the account of the key; nobody connects to its mailbox. */
const made =
  (rest = '') =>
  async (app: App, key: string): Promise<Partial<Example>> => {
    const outreach = makeOutreach(app, { port: 9 } as Dovecot)
    const mailbox = await outreach.makeMailbox(await accountOf(app, key))
    const id = await outreach.makeReply(await outreach.writeTo(mailbox))
    return { path: `${path}/${id}${rest}` }
  }

const Account = row<{ account_id: string }>({ account_id: text })

async function accountOf(app: App, key: string): Promise<string> {
  const { body } = await app.call('GET', '/api/v1/usage', { key })
  const id = readId('key', body.key.id)
  const found = await app.pools.db.one(Account, sql`select account_id from api_keys where id = ${id}`)
  return found.account_id
}

export const inboxPrepared: Record<string, (app: App, key: string) => Promise<Partial<Example>>> = {
  'v3.inbox.list': async (app, key) => {
    await made()(app, key)
    return { path }
  },
  'v3.inbox.get': made(),
  'v3.inbox.update': made(),
  'v3.inbox.reply': made('/reply'),
}
