import type { Db } from '../../kernel/db.ts'
import { int, row, text, time } from '../../kernel/row.ts'
import { sql, when } from '../../kernel/sql.ts'
import type { Slice } from '../../kernel/v3/paging.ts'
import { mediaLimits } from './limits.ts'

export type ImageRow = {
  id: string
  uuid: string
  name: string
  content_type: string
  file: string
  width: number
  height: number
  size: number
  created_at: Date
}

const Image = row<ImageRow>({
  id: text,
  uuid: text,
  name: text,
  content_type: text,
  file: text,
  width: int,
  height: int,
  size: int,
  created_at: time,
})

const columns = sql`id, uuid, name, content_type, file, width, height, size, created_at`

type Kept = { accountId: string; uuid: string }

export type NewImage = Omit<ImageRow, 'id'> & { account_id: string; clear_at: Date }

/** False when the account has as much as it may. Files that are still to be removed count. */
export function insertPending(db: Db, image: NewImage): Promise<boolean> {
  const { account_id } = image
  return db.transaction(async (tx) => {
    await tx.run(sql`select pg_advisory_xact_lock(hashtextextended('media', ${account_id}::bigint))`)
    const inserted = await tx.run(sql`
      insert into media
        (account_id, uuid, state, name, content_type, file, width, height, size, created_at, clear_at)
      select ${account_id}, ${image.uuid}, 'pending', ${image.name}, ${image.content_type}, ${image.file},
             ${image.width}, ${image.height}, ${image.size}, ${image.created_at}, ${image.clear_at}
        from (select count(*) as images, coalesce(sum(size), 0) as bytes
                from media where account_id = ${account_id}) used
       where used.images < ${mediaLimits.images} and used.bytes + ${image.size}::int <= ${mediaLimits.bytes}`)
    return inserted === 1
  })
}

/** Nothing when it was cleared away meanwhile. */
export function markStored(db: Db, { accountId, uuid }: Kept) {
  return db.maybe(
    Image,
    sql`
    update media set state = 'stored', clear_at = null
     where account_id = ${accountId} and uuid = ${uuid} and state = 'pending'
    returning ${columns}`,
  )
}

export function markDeleted(db: Db, { accountId, uuid }: Kept, from: 'pending' | 'stored', at: Date) {
  return db.run(sql`
    update media set state = 'deleted', clear_at = ${at}
     where account_id = ${accountId} and uuid = ${uuid} and state = ${from}`)
}

export function findImage(db: Db, { accountId, uuid }: Kept) {
  return db.maybe(
    Image,
    sql`select ${columns} from media where account_id = ${accountId} and uuid = ${uuid} and state = 'stored'`,
  )
}

export function findPublicImage(db: Db, uuid: string) {
  return db.maybe(
    Image,
    sql`
    -- all accounts: whoever has the address may see it
    select ${columns} from media where uuid = ${uuid} and state = 'stored'`,
  )
}

export function listImages(db: Db, accountId: string, slice: Slice) {
  return db.many(
    Image,
    sql`
    select ${columns}
      from media
     where account_id = ${accountId} and state = 'stored'
       ${when(slice.after, (after) => (slice.ascending ? sql`and id > ${after}` : sql`and id < ${after}`))}
     order by ${slice.ascending ? sql`id` : sql`id desc`}
     limit ${slice.limit}
    offset ${slice.offset}`,
  )
}

const Count = row<{ count: number }>({ count: int })

export function countImages(db: Db, accountId: string) {
  return db.one(
    Count,
    sql`select count(*)::int as count from media where account_id = ${accountId} and state = 'stored'`,
  )
}

export type ToClear = { account_id: string; uuid: string; file: string }
const Clear = row<ToClear>({ account_id: text, uuid: text, file: text })

/** From now on they are another process's only after a while; what was pending is nobody's to finish. */
export function claimToClear(db: Db, now: Date, { until, most }: { until: Date; most: number }) {
  return db.many(
    Clear,
    sql`
    -- all accounts: housekeeping
    update media set state = 'deleted', clear_at = ${until}
     where (account_id, id) in (select account_id, id from media
                                 where clear_at <= ${now}
                                 order by clear_at
                                 limit ${most}
                                   for update skip locked)
    returning account_id, uuid, file`,
  )
}

export function deleteCleared(db: Db, { account_id, uuid }: ToClear) {
  return db.run(sql`
    delete from media where account_id = ${account_id} and uuid = ${uuid} and state = 'deleted'`)
}
