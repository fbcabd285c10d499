import type { Db } from '../../../kernel/db.ts'
import { chunksOf, type GivenRow } from './given-rows.ts'
import { insertChunk, markStored, type ProcessRef } from './process-queries.ts'

/** Rows are read and stored chunk by chunk; too many of them, or a file that breaks off, store none. */
export async function storeRows(db: Db, ref: ProcessRef, rows: Iterable<GivenRow>, at: Date) {
  let [total, chunks] = [0, 0]
  for (const chunk of chunksOf(rows)) {
    await insertChunk(db, ref, chunks++, chunk)
    total += chunk.length
  }
  await markStored(db, ref, { total, chunks }, at)
  return { total, chunks }
}
