import type { Db } from '../../kernel/db.ts'
import { row, text } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'

export type CopyRef = { accountId: string; source: string; kind: string }
export type Progress = { kind: string; next_offset: string; copied: string; skipped: string }

const ProgressOf = row<Progress>({ kind: text, next_offset: text, copied: text, skipped: text })

export function listProgress(db: Db, { accountId, source }: Omit<CopyRef, 'kind'>) {
  return db.many(
    ProgressOf,
    sql`
    select kind, next_offset, copied, skipped
      from provider_copies
     where account_id = ${accountId} and source = ${source}`,
  )
}

/** Whoever else copies the same waits until this transaction is over. */
export async function holdProgress(db: Db, { accountId, source, kind }: CopyRef): Promise<Progress> {
  await db.run(sql`
    insert into provider_copies (account_id, source, kind) values (${accountId}, ${source}, ${kind})
    on conflict do nothing`)
  return db.one(
    ProgressOf,
    sql`
    select kind, next_offset, copied, skipped
      from provider_copies
     where account_id = ${accountId} and source = ${source} and kind = ${kind}
       for update`,
  )
}

export function moveProgress(
  db: Db,
  { accountId, source, kind }: CopyRef,
  { offset, copied, skipped }: { offset: number; copied: number; skipped: number },
) {
  return db.run(sql`
    update provider_copies
       set next_offset = ${offset}, copied = copied + ${copied}, skipped = skipped + ${skipped}
     where account_id = ${accountId} and source = ${source} and kind = ${kind}`)
}

export type CopiedId = { theirs: string; ours: string }

const Copied = row<CopiedId>({ theirs: text, ours: text })

export function listCopied(db: Db, { accountId, source, kind }: CopyRef) {
  return db.many(
    Copied,
    sql`
    select theirs, ours
      from provider_copied_ids
     where account_id = ${accountId} and source = ${source} and kind = ${kind}
     order by ours, theirs`,
  )
}

/** 0 stands for what has no number here, and for a contact that was left out. */
export function insertCopied(db: Db, { accountId, source, kind }: CopyRef, { theirs, ours }: CopiedId) {
  return db.run(sql`
    insert into provider_copied_ids (account_id, source, kind, theirs, ours)
    values (${accountId}, ${source}, ${kind}, ${theirs}, ${ours})
    on conflict do nothing`)
}

const Theirs = row<{ theirs: string }>({ theirs: text })

/** Gives those that were not there. */
export function insertTold(db: Db, { accountId, source, kind }: CopyRef, theirs: string[]) {
  return db.many(
    Theirs,
    sql`
    insert into provider_copied_ids (account_id, source, kind, theirs, ours)
    select ${accountId}, ${source}, ${kind}, told, 0
      from unnest(${theirs}::text[]) as told
    on conflict do nothing
    returning theirs`,
  )
}

/** Gives those that were there. */
export function deleteCopied(db: Db, { accountId, source, kind }: CopyRef, theirs: string[]) {
  return db.many(
    Theirs,
    sql`
    delete from provider_copied_ids
     where account_id = ${accountId} and source = ${source} and kind = ${kind}
       and theirs = any(${theirs}::text[])
    returning theirs`,
  )
}
