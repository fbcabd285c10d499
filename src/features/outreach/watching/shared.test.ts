// A process watches so many mailboxes and no more: whose they are.
import { after, test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'
import { until } from '../../../../test/until.ts'
import { silentLog } from '../../../kernel/log.ts'
import type { MailboxReader, OpenMailbox } from '../../../kernel/mailbox-ports.ts'
import { int, row, text } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import { sealCredentials } from '../mailboxes/credentials.ts'
import { secretKeys } from './fixtures/outreach.ts'
import { startWatching } from './watch-mailboxes.ts'

const app = await makeApp()
const { db } = app.pools

/** Mailboxes without mail. */
const reader: MailboxReader = {
  test: async () => undefined,
  open: async (): Promise<OpenMailbox> => ({
    folders: [],
    enter: async () => ({ uidValidity: '1', uidNext: 1 }),
    firstSince: async () => undefined,
    headsAfter: async () => [],
    source: async () => undefined,
    findSent: async () => [],
    wait: (_, stopping) =>
      new Promise((resolve) => {
        stopping.addEventListener('abort', () => resolve())
        if (stopping.aborted) resolve()
      }),
    close: () => {},
  }),
}

async function makeMailboxes(accountId: string, count: number): Promise<void> {
  await db.run(sql`update accounts set outreach_enabled = true where id = ${accountId}`)
  for (let i = 0; i < count; i++) {
    const email = `owner${i}@shop.example`
    const secret = { password: 'right' }
    const sealed = await sealCredentials(secretKeys, { accountId, email }, { smtp: secret, imap: secret })
    const server = JSON.stringify({ host: '127.0.0.1', port: 143, secure: false, user: email })
    await db.run(sql`
      insert into outreach_mailboxes (account_id, email, name, smtp, imap, sealed, daily_limit, created_at, modified_at)
      values (${accountId}, ${email}, 'Shop', ${server}, ${server}, ${sealed}, 50, now(), now())`)
  }
}

const Watched = row<{ account_id: string; n: number }>({ account_id: text, n: int })

async function watched(): Promise<Map<string, number>> {
  const found = await db.many(
    Watched,
    sql`select account_id, count(*)::int as n from outreach_watches where holder is not null group by account_id`,
  )
  return new Map(found.map(({ account_id, n }) => [account_id, n]))
}

test('an account with more mailboxes than a process watches leaves their share to those who come later', async () => {
  const [many, few, one] = [await app.makeAccount(), await app.makeAccount(), await app.makeAccount()]
  await makeMailboxes(many.accountId, 20)
  const timings = { tickMs: 20 }
  const watching = startWatching({
    db,
    log: silentLog,
    now: () => new Date(),
    reader,
    secretKeys,
    timings,
    most: 12,
  })
  after(() => watching.stop())
  await until(async () => (await watched()).get(many.accountId) === 12, 'all places taken by one account')
  await makeMailboxes(few.accountId, 8)
  await makeMailboxes(one.accountId, 1)
  await until(async () => {
    const counts = await watched()
    const [ofMany = 0, ofFew = 0, ofOne] = [many, few, one].map(({ accountId }) => counts.get(accountId))
    return ofOne === 1 && Math.abs(ofMany - ofFew) <= 1 && ofMany + ofFew === 11
  }, 'a share for each')
})
