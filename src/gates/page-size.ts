// A page has so many rows at most; how large each of them is, is up to the account. An answer of some hundred megabytes
// keeps everybody waiting while it is written, and is more than a text can hold in the end.
import type { Budget } from '../kernel/budget.ts'
import type { Db } from '../kernel/db.ts'
import type { Operation } from '../kernel/operation.ts'
import { invalidParameter } from '../kernel/refusals.ts'
import type { Sql } from '../kernel/sql.ts'

const most = 64 * 1024 * 1024

/** For an operation whose caller can ask for fewer rows: the pool with what one page may have read. */
export function pageDb({ query }: Operation, db: Db): Db {
  return query && 'limit' in query.properties ? countedDb(db, { left: most, spent: tooLarge }) : db
}

function countedDb(db: Db, budget: Budget): Db {
  const counted = (statement: Sql): Sql => ({ ...statement, budget })
  return {
    ...db,
    one: (shape, statement) => db.one(shape, counted(statement)),
    maybe: (shape, statement) => db.maybe(shape, counted(statement)),
    many: (shape, statement) => db.many(shape, counted(statement)),
    transaction: (work) => db.transaction((tx) => work(countedDb(tx, budget))),
    byKeys: (work) => db.byKeys((tx) => work(countedDb(tx, budget))),
  }
}

const tooLarge = () =>
  invalidParameter({
    message: `The rows of this page are larger than ${most / 1024 ** 2} MB together: ask for fewer with limit.`,
    param: 'limit',
  })
