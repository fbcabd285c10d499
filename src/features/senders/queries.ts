import type { Db } from '../../kernel/db.ts'
import { bool, bytes, int, maybe, row, text } from '../../kernel/row.ts'
import { sql, when } from '../../kernel/sql.ts'

export type SenderRow = { id: string; name: string; email: string; is_proven: boolean }

const Sender = row<SenderRow>({ id: text, name: text, email: text, is_proven: bool })

export type SenderRef = { accountId: string; id: number }

type Filter = { id?: number; domain?: string }

export function listSenders(db: Db, accountId: string, { id, domain }: Filter = {}) {
  return db.many(
    Sender,
    sql`
    select id, name, email, proven_at is not null as is_proven
      from senders
     where account_id = ${accountId}
       ${when(id, (one) => sql`and id = ${one}`)}
       ${when(domain, (one) => sql`and lower(split_part(email, '@', 2)) = ${one}`)}
     order by id`,
  )
}

/** Nobody else changes it until the transaction ends. */
export function lockSender(db: Db, { accountId, id }: SenderRef) {
  return db.maybe(
    Sender,
    sql`
    select id, name, email, proven_at is not null as is_proven
      from senders
     where account_id = ${accountId}
       and id = ${id}
       for update`,
  )
}

const Id = row<{ id: string }>({ id: text })

export type NewSender = { name: string; email: string; at: Date }

/** An address that was proven once is so under another name too. Nothing when there is one like it. */
export function insertSender(db: Db, accountId: string, { name, email, at }: NewSender) {
  return db.maybe(
    Id,
    sql`
    insert into senders (account_id, name, email, proven_at, created_at)
    select ${accountId}, ${name}, ${email}, min(proven_at), ${at}
      from senders
     where account_id = ${accountId}
       and lower(email) = lower(${email})
    on conflict (account_id, lower(email), name) do nothing
    returning id`,
  )
}

/** An address that was changed has to be proven anew, with a code of its own. */
export function updateSender(db: Db, { accountId, id }: SenderRef, { name, email }: Omit<NewSender, 'at'>) {
  return db.run(sql`
    update senders s
       set name = ${name}, email = ${email},
           proven_at = (select min(o.proven_at)
                          from senders o
                         where o.account_id = ${accountId} and lower(o.email) = lower(${email})),
           code_hash = case when lower(s.email) = lower(${email}) then s.code_hash end
     where s.account_id = ${accountId}
       and s.id = ${id}`)
}

export function deleteSender(db: Db, { accountId, id }: SenderRef) {
  return db.run(sql`delete from senders where account_id = ${accountId} and id = ${id}`)
}

export type NewCode = { hash: Buffer; tries: number; at: Date }

export function storeCode(db: Db, { accountId, id }: SenderRef, { hash, tries, at }: NewCode) {
  return db.run(sql`
    update senders
       set code_hash = ${hash}, tries_left = ${tries}, code_sent_at = ${at}
     where account_id = ${accountId}
       and id = ${id}`)
}

const Hash = row<{ code_hash: Buffer | null }>({ code_hash: maybe(bytes) })

/** One try less; nothing when none is left, or the code is older than `since`. */
export function takeTry(db: Db, { accountId, id }: SenderRef, since: Date) {
  return db.maybe(
    Hash,
    sql`
    update senders
       set tries_left = tries_left - 1
     where account_id = ${accountId}
       and id = ${id}
       and code_hash is not null
       and tries_left > 0
       and code_sent_at > ${since}
    returning code_hash`,
  )
}

/** Every sender of the address, if this is still its code; gives how many. */
export function markProven(db: Db, { accountId, id }: SenderRef, hash: Buffer, at: Date) {
  return db.run(sql`
    update senders s
       set proven_at = coalesce(s.proven_at, ${at}), code_hash = null
      from senders known
     where known.account_id = ${accountId}
       and known.id = ${id}
       and known.code_hash = ${hash}
       and s.account_id = known.account_id
       and lower(s.email) = lower(known.email)`)
}

const Sent = row<{ sent: number }>({ sent: int })

/** How many codes the address got on the day, with this one. */
export function countCode(db: Db, email: string, day: string) {
  return db.one(
    Sent,
    sql`
    -- all accounts: one address is not to be flooded through many of them
    insert into sender_code_counts as c (address, day, sent)
    values (erased_name(lower(${email})), ${day}::date, 1)
    on conflict (address, day) do update set sent = c.sent + 1
    returning sent`,
  )
}

export function deleteOldCodeCounts(db: Db, before: string) {
  return db.run(sql`
    -- all accounts: the job works for each of them
    delete from sender_code_counts where day < ${before}::date`)
}
