import type { Writable } from 'node:stream'
import pg from 'pg'
import { countedBy } from './budget.ts'
import { type Doubts, openDoubts } from './doubts.ts'
import { type Gatherer, gather } from './gather.ts'
import { codeOf, translate } from './outage.ts'
import { holdAgainst, type Shape } from './row.ts'
import { connectionTo } from './server-settings.ts'
import { compile, type Sql, sql } from './sql.ts'

export type Db = {
  one<R>(shape: Shape<R>, statement: Sql): Promise<R>
  maybe<R>(shape: Shape<R>, statement: Sql): Promise<R | undefined>
  many<R>(shape: Shape<R>, statement: Sql): Promise<R[]>
  /** Runs a statement and gives the number of rows it touched. */
  run(statement: Sql): Promise<number>
  /** Travels with the commit, and fails it: nothing in its transaction waits for it. Locks are best taken last. */
  runLast(statement: Sql, locks?: 'locks'): Promise<void>
  /**
   * Whether this transaction may go ahead on what is nearly always so and have its last statements check it. One
   * whose check calls assumption_failed() is rolled back and run again without assuming anything.
   */
  optimistic: boolean
  /** Where it had better not, for all who share the pool. */
  doubts: Doubts
  /** Asks for one item of a question put for many: callers at the same time share the statement. */
  gathered<In, Out>(ask: (db: Db, items: In[]) => Promise<Out[]>, item: In): Promise<Out>
  /** Inside a transaction this joins it. Deadlocks and serialisation failures are tried again. */
  transaction<T>(work: (db: Db) => Promise<T>): Promise<T>
  /**
   * A transaction that looks rows up by their keys. The planner cannot know how few they are, and would rather read a
   * table of some thousand rows as a whole, for each of them.
   */
  byKeys<T>(work: (db: Db) => Promise<T>): Promise<T>
  /** A transaction of background work that may take minutes; rolled back at once when it has to stop. */
  patiently<T>(work: (db: Db) => Promise<T>, stopping: AbortSignal): Promise<T>
}

export type PoolOptions = {
  url: string
  max: number
  name: string
  /** false for what may be lost with the last half second before a power cut: counters, lines about reads. */
  durable: boolean
  checkRows: boolean
  onError: (error: Error) => void
  /** What a statement was refused with because the database is away, or takes no writes; and why. */
  onOutage?: (refusal: Error, reason: Error) => void
}

export type PooledDb = Db & { close(): Promise<void> }

export function openPool(options: PoolOptions): PooledDb {
  const pool = new pg.Pool({
    // Plans that must not read whole tables look dear to the planner, which would then compile them: seconds for a
    // statement of milliseconds.
    ...connectionTo(options.url, { jit: 'off', ...(!options.durable && { synchronous_commit: 'off' }) }),
    max: options.max,
    application_name: options.name,
    connectionTimeoutMillis: 3_000,
    idleTimeoutMillis: 60_000,
    query_timeout: 20_000,
    statement_timeout: 15_000,
    idle_in_transaction_session_timeout: 10_000,
    keepAlive: true,
    // Statements that do not wait for each other go out together: the begin with the first, the last with the commit.
    pipeline: true,
  })
  // Without a listener an idle connection that the server closes would end the process. So would one that it closes in
  // the moment between the hands of two users: each keeps a listener of its own, and its next statement fails.
  let isClosing = false
  // Those that end while they are closed are not lost: the pool does not wait for the server to let go of them.
  pool.on('error', (error) => !isClosing && options.onError(error))
  pool.on('connect', (client) => client.on('error', () => {}))
  const statements = over((query) => pool.query(query), options)
  const doubts = openDoubts()
  const watched = { ...options, doubts }
  const db: Db = {
    ...statements,
    runLast: async (statement) => {
      await statements.run(statement)
    },
    optimistic: false,
    doubts,
    transaction: (work) => tryAgain((optimistic) => inTransaction(pool, { ...watched, optimistic }, work)),
    byKeys: (work) => db.transaction((tx) => lookingUp(tx, work)),
    patiently: (work, stopping) =>
      inTransaction(pool, { ...watched, optimistic: false, stopping }, (tx) => patient(tx, work)),
    gathered: gatheredBy(() => db),
  }
  const close = () => {
    isClosing = true
    return pool.end()
  }
  return { ...db, close }
}

/** One gatherer per question; they live and end with the pool. */
function gatheredBy(db: () => Db): Db['gathered'] {
  const gatherers = new Map<unknown, Gatherer<never, unknown>>()
  return <In, Out>(ask: (db: Db, items: In[]) => Promise<Out[]>, item: In) => {
    const known = gatherers.get(ask) as Gatherer<In, Out> | undefined
    const gatherer = known ?? gather((items: In[]) => ask(db(), items), { underWay: 2 })
    gatherers.set(ask, gatherer as Gatherer<never, unknown>)
    return gatherer(item)
  }
}

type Ask = (query: pg.QueryConfig) => Promise<pg.QueryResult>

type Watching = Pick<PoolOptions, 'checkRows' | 'onOutage'>

const failing =
  ({ onOutage }: Watching) =>
  (error: unknown): never => {
    try {
      translate(error)
    } catch (told) {
      if (told !== error) onOutage?.(told as Error, error as Error)
      throw told
    }
  }

function over(ask: Ask, watching: Watching): Pick<Db, 'one' | 'maybe' | 'many' | 'run'> {
  const { checkRows } = watching
  const fail = failing(watching)
  const query = async (statement: Sql) => {
    const compiled = compile(statement)
    const { budget } = statement
    const asked = budget ? { ...compiled, types: countedBy(budget) } : compiled
    return { result: await ask(asked).catch(fail), text: compiled.text }
  }
  async function many<R>(shape: Shape<R>, statement: Sql): Promise<R[]> {
    const { result, text } = await query(statement)
    if (checkRows) for (const found of result.rows) holdAgainst(shape, found, text)
    return result.rows
  }
  return {
    many,
    maybe: async (shape, statement) => (await many(shape, statement))[0],
    one: async (shape, statement) => {
      const rows = await many(shape, statement)
      const first = rows[0]
      if (rows.length !== 1 || first === undefined) throw new Error(`expected one row, got ${rows.length}`)
      return first
    },
    run: async (statement) => (await query(statement)).result.rowCount ?? 0,
  }
}

type Transaction = Watching & {
  optimistic: boolean
  doubts: Doubts
  /** Of a patient one. */
  stopping?: AbortSignal
}

const patienceMs = 30 * 60_000

async function patient<T>(tx: Db, work: (db: Db) => Promise<T>): Promise<T> {
  // Between its statements no longer than any other: a process that stands still holds locks that others wait for.
  await tx.run(sql`select set_config('statement_timeout', ${String(patienceMs)}, true)`)
  return work(tx)
}

async function lookingUp<T>(tx: Db, work: (db: Db) => Promise<T>): Promise<T> {
  const set = tx.run(sql`
    select set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
           set_config('enable_mergejoin', 'off', true)`)
  // Its failure is the next statement's too.
  set.catch(() => {})
  const result = await work(tx)
  await set
  return result
}

/** Ends what the connection is doing when it is time to stop; gives what takes the listener away and waits for that. */
function cancelWhenStopping(pool: pg.Pool, client: pg.PoolClient, stopping: AbortSignal | undefined) {
  const { processID } = client as unknown as { processID: number }
  let cancelling: Promise<unknown> | undefined
  const cancel = () => {
    cancelling = pool.query('select pg_cancel_backend($1)', [processID]).catch(() => {})
  }
  stopping?.throwIfAborted()
  stopping?.addEventListener('abort', cancel)
  return async () => {
    stopping?.removeEventListener('abort', cancel)
    // One that is still on its way would end what the next user of the connection does.
    await cancelling
  }
}

async function inTransaction<T>(
  pool: pg.Pool,
  transaction: Transaction,
  work: (db: Db) => Promise<T>,
): Promise<T> {
  const client = await pool.connect().catch(failing(transaction))
  let broken = false
  // A connection lost between two statements reports itself here; the next statement then fails.
  const onError = () => {
    broken = true
  }
  client.on('error', onError)
  let staysUncancelled = async () => {}
  try {
    staysUncancelled = cancelWhenStopping(pool, client, transaction.stopping)
    const stream = streamOf(client)
    // Held back for as long as this turn of the event loop lasts: usually the first statement comes within it.
    stream.cork()
    process.nextTick(() => stream.uncork())
    const begun = client.query('begin')
    // Its failure is the first statement's too, which is awaited.
    begun.catch(() => {})
    const { db, last, locking } = within(client, transaction)
    const result = await work(db)
    stream.cork()
    const sent = [...last, ...locking].map((statement) => db.run(statement))
    const committing = client.query('commit')
    stream.uncork()
    const [committed] = await Promise.all([committing, begun, ...sent]).catch(failing(transaction))
    // After a failed statement the server answers a commit by rolling back.
    if (committed.command !== 'COMMIT') throw new Error('the transaction was rolled back')
    return result
  } catch (error) {
    await client.query('rollback').catch(() => {
      broken = true
    })
    throw error
  } finally {
    if (transaction.stopping) await staysUncancelled()
    client.off('error', onError)
    client.release(broken)
  }
}

function within(client: pg.PoolClient, transaction: Transaction): { db: Db; last: Sql[]; locking: Sql[] } {
  const { optimistic, doubts, stopping } = transaction
  const [last, locking]: [Sql[], Sql[]] = [[], []]
  const patiently: Ask = async (query) => {
    stopping?.throwIfAborted()
    return client.query(Object.assign({ ...query }, { query_timeout: patienceMs }))
  }
  const statements = over(stopping ? patiently : (query) => client.query(query), transaction)
  const db: Db = {
    ...statements,
    // What may be taken back to a savepoint must not come after it.
    runLast: async (statement, locks) => {
      if (optimistic) (locks ? locking : last).push(statement)
      else await statements.run(statement)
    },
    optimistic,
    doubts,
    transaction: (inner) => inner(db),
    byKeys: (inner) => lookingUp(db, inner),
    patiently: (inner) => inner(db),
    gathered: async <In, Out>(ask: (db: Db, items: In[]) => Promise<Out[]>, item: In) =>
      (await ask(db, [item]))[0] as Out,
  }
  return { db, last, locking }
}

// One write for several statements: each write would wake the server, and on a busy machine yield to it.
function streamOf(client: pg.PoolClient): Writable {
  return (client as unknown as { connection: { stream: Writable } }).connection.stream
}

const conflictCodes = new Set(['40001', '40P01'])
const assumptionCode = 'PH001'

/** What assumption_failed() is in SQL. */
export function assumptionFailed(): Error {
  return Object.assign(new Error('an assumption of this transaction does not hold'), { code: assumptionCode })
}

async function tryAgain<T>(
  work: (optimistic: boolean) => Promise<T>,
  { optimistic, triesLeft } = { optimistic: true, triesLeft: 3 },
): Promise<T> {
  try {
    return await work(optimistic)
  } catch (error) {
    const code = codeOf(error)
    if (code === assumptionCode && optimistic) return tryAgain(work, { optimistic: false, triesLeft })
    if (isConflict(error) && triesLeft > 0) return tryAgain(work, { optimistic, triesLeft: triesLeft - 1 })
    throw error
  }
}

/** Others were in the way, and of so many tries none came through: later one will. */
export const isConflict = (error: unknown) => conflictCodes.has(codeOf(error))

/** Has a transaction run again, like a serialisation failure: it then finds what somebody else did meanwhile. */
export function overtaken(): Error {
  return Object.assign(new Error('somebody else was faster'), { code: '40001' })
}

export function isUniqueViolation(error: unknown, constraint: string): boolean {
  return codeOf(error) === '23505' && (error as { constraint?: string }).constraint === constraint
}
