import type { Db } from '../../../kernel/db.ts'
import { row, text } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'

export type FolderRef = { accountId: string; mailboxId: string; folder: string }
export type Marker = { uidValidity: string; lastUid: number }

const MarkerRow = row<{ uid_validity: string; last_uid: string }>({ uid_validity: text, last_uid: text })

export async function findMarker(db: Db, ref: FolderRef): Promise<Marker | undefined> {
  const found = await db.maybe(
    MarkerRow,
    sql`
    select uid_validity, last_uid
      from outreach_folders
     where account_id = ${ref.accountId} and mailbox_id = ${ref.mailboxId} and folder = ${ref.folder}`,
  )
  return found && { uidValidity: found.uid_validity, lastUid: Number(found.last_uid) }
}

/** From one place to the next; false when it stood elsewhere: somebody else has read on. */
export async function moveMarker(db: Db, ref: FolderRef, from: Marker | undefined, to: Marker) {
  if (from === undefined) return (await insertMarker(db, ref, to)) === 1
  const moved = await db.run(sql`
    update outreach_folders
       set uid_validity = ${to.uidValidity}, last_uid = ${to.lastUid}
     where account_id = ${ref.accountId}
       and mailbox_id = ${ref.mailboxId}
       and folder = ${ref.folder}
       and uid_validity = ${from.uidValidity}
       and last_uid = ${from.lastUid}`)
  return moved === 1
}

function insertMarker(db: Db, ref: FolderRef, to: Marker) {
  return db.run(sql`
    insert into outreach_folders (account_id, mailbox_id, folder, uid_validity, last_uid)
    select account_id, id, ${ref.folder}, ${to.uidValidity}, ${to.lastUid}
      from outreach_mailboxes
     where account_id = ${ref.accountId} and id = ${ref.mailboxId}
    on conflict (account_id, mailbox_id, folder) do nothing`)
}

const Ref = row<{ id: string }>({ id: text })

type Since = { unconfirmed: Date; sent: Date }

/** Whose copies are to be found: those that may or may not have left, and for a while those that did. */
export function listUnfiled(db: Db, ref: Omit<FolderRef, 'folder'>, since: Since) {
  return db.many(
    Ref,
    sql`
    select id
      from outreach_messages
     where account_id = ${ref.accountId}
       and mailbox_id = ${ref.mailboxId}
       and not is_filed
       and state in ('unconfirmed', 'sent')
       and created_at >= ${since.unconfirmed}
       and (state = 'unconfirmed' or (mode = 'live' and created_at >= ${since.sent}))
     order by created_at desc
     limit 50`,
  )
}
