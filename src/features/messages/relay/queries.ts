import type { Db } from '../../../kernel/db.ts'
import { sql } from '../../../kernel/sql.ts'

export function openSavepoint(db: Db) {
  return db.run(sql`savepoint relayed_mail`)
}

/** The savepoint stays open. */
export function rollBackToSavepoint(db: Db) {
  return db.run(sql`rollback to savepoint relayed_mail`)
}

export function closeSavepoint(db: Db) {
  return db.run(sql`release savepoint relayed_mail`)
}
