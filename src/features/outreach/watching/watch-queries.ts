import type { Db } from '../../../kernel/db.ts'
import { bytes, int, json, row, text, time } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import type { ServerSettings } from '../mailboxes/credentials.ts'

export type WatchedRow = {
  account_id: string
  id: string
  email: string
  imap: ServerSettings
  sealed: Buffer
  settings: Buffer
  created_at: Date
}

const Watched = row<WatchedRow>({
  account_id: text,
  id: text,
  email: text,
  imap: json(),
  sealed: bytes,
  settings: bytes,
  created_at: time,
})

type Lease = { holder: string; now: Date; until: Date }

export const mostLoginFailures = 3

// What a connection is made with: another value of it, and everything about earlier failures is forgotten.
const settingsOf = sql`sha256(convert_to(m.imap::text, 'UTF8') || m.sealed)`

// That nobody watches and that may be tried: of mailboxes m and watches w.
const isFree = (now: Date) => sql`
  (w.mailbox_id is null
   or (w.held_until < ${now}
       and (w.settings <> ${settingsOf}
            or (w.next_try_at <= ${now} and w.login_failures < ${mostLoginFailures}))))`

/**
 * Mailboxes that nobody watches and that may be tried, each now held by this process. First those of the accounts that
 * have the fewest watched: one with a thousand mailboxes leaves places for others.
 */
export function claimMailboxes(db: Db, { holder, now, until }: Lease, limit: number) {
  return db.many(
    Watched,
    sql`
    -- all accounts: the mailboxes of all of them are watched
    with watched as (
      select account_id, count(*) as mailboxes from outreach_watches where held_until >= ${now} group by account_id
    ), ranked as (
      select m.account_id, m.id, w.next_try_at,
             coalesce(h.mailboxes, 0) + row_number() over (
               partition by m.account_id order by w.next_try_at nulls first, m.id) as place
        from outreach_mailboxes m
        join accounts a on a.id = m.account_id and a.outreach_enabled
        left join outreach_watches w on w.account_id = m.account_id and w.mailbox_id = m.id
        left join watched h on h.account_id = m.account_id
       where ${isFree(now)}
    ), free as (
      select m.account_id, m.id, m.email, m.imap, m.sealed, m.created_at, ${settingsOf} as settings
        from ranked r
        join outreach_mailboxes m on m.account_id = r.account_id and m.id = r.id
       order by r.place, r.next_try_at nulls first, m.id
       limit ${limit}
         for update of m skip locked
    ), held as (
      insert into outreach_watches as w (account_id, mailbox_id, holder, held_until, next_try_at, settings)
      select account_id, id, ${holder}, ${until}, ${now}, settings from free
      on conflict (account_id, mailbox_id) do update
         set holder = excluded.holder, held_until = excluded.held_until, settings = excluded.settings, read_at = null,
             login_failures = case when w.settings = excluded.settings then w.login_failures else 0 end
       where w.held_until < ${now}
      returning w.account_id, w.mailbox_id)
    select f.* from free f join held h on h.account_id = f.account_id and h.mailbox_id = f.id`,
  )
}

const Waiting = row<{ mailboxes: number; waiting: number }>({ mailboxes: int, waiting: int })

/** Of each account with mailboxes that wait to be watched: how many are watched and how many wait, fewest first. */
export function listWaiting(db: Db, now: Date) {
  return db.many(
    Waiting,
    sql`
    -- all accounts: a process watches mailboxes of all of them
    select count(*) filter (where w.held_until >= ${now})::int as mailboxes,
           count(*) filter (where ${isFree(now)})::int as waiting
      from outreach_mailboxes m
      join accounts a on a.id = m.account_id and a.outreach_enabled
      left join outreach_watches w on w.account_id = m.account_id and w.mailbox_id = m.id
     group by m.account_id
    having count(*) filter (where ${isFree(now)}) > 0
     order by 1`,
  )
}

const Held = row<{ account_id: string; mailbox_id: string }>({ account_id: text, mailbox_id: text })

/** Renews what is held; one whose settings changed, or whose account has lost the module, is not renewed. */
export function renewLeases(db: Db, { holder, now, until }: Lease) {
  return db.many(
    Held,
    sql`
    -- all accounts: a process holds mailboxes of all of them
    update outreach_watches w
       set held_until = ${until}
      from outreach_mailboxes m
      join accounts a on a.id = m.account_id and a.outreach_enabled
     where w.holder = ${holder}
       and w.held_until >= ${now}
       and m.account_id = w.account_id
       and m.id = w.mailbox_id
       and w.settings = ${settingsOf}
    returning w.account_id, w.mailbox_id`,
  )
}

export type WatchRef = { accountId: string; mailboxId: string; holder: string }

const Logins = row<{ login_failures: number }>({ login_failures: int })

/** Another may have it at once, or at that time. Gives how many logins were refused in a row. */
export async function releaseWatch(
  db: Db,
  ref: WatchRef,
  given: { now: Date; nextTryAt: Date; isLogin: boolean },
): Promise<number> {
  const released = await db.maybe(
    Logins,
    sql`
    update outreach_watches
       set holder = null, held_until = ${given.now}::timestamptz - interval '1 second',
           next_try_at = ${given.nextTryAt},
           login_failures = login_failures + ${given.isLogin ? 1 : 0}
     where account_id = ${ref.accountId} and mailbox_id = ${ref.mailboxId} and holder = ${ref.holder}
    returning login_failures`,
  )
  return released?.login_failures ?? 0
}

/** All went well, of what was there when it began. */
export function recordSync(db: Db, ref: WatchRef, { began, at }: { began: Date; at: Date }) {
  return db.run(sql`
    with watched as (
      update outreach_watches
         set login_failures = 0, read_at = ${began}
       where account_id = ${ref.accountId}
         and mailbox_id = ${ref.mailboxId}
         and holder = ${ref.holder})
    update outreach_mailboxes
       set last_sync_at = ${at}, imap_failures = 0, imap_error = null
     where account_id = ${ref.accountId} and id = ${ref.mailboxId}`)
}

const Failures = row<{ imap_failures: number }>({ imap_failures: int })

export async function recordFailure(db: Db, ref: WatchRef, words: string): Promise<number> {
  const found = await db.maybe(
    Failures,
    sql`
    update outreach_mailboxes
       set imap_failures = imap_failures + 1, imap_error = ${words}
     where account_id = ${ref.accountId} and id = ${ref.mailboxId}
    returning imap_failures`,
  )
  return found?.imap_failures ?? 1
}
