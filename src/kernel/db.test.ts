import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { makeDatabase } from '../../test/app.ts'
import { proxyTo } from '../../test/stand-ins/cuttable-proxy.ts'
import { type Db, isUniqueViolation, openPool, type PooledDb } from './db.ts'
import { Refusal } from './refusal.ts'
import { int, row, text } from './row.ts'
import { sql } from './sql.ts'

const url = await makeDatabase()
const db = open(url)
await db.run(
  sql`create table things (name text constraint things_name primary key, n int not null default 0)`,
)

function open(address: string, durable = true, max = 4): PooledDb {
  const pool = openPool({ url: address, max, name: 'test', durable, checkRows: true, onError: () => {} })
  after(() => pool.close())
  return pool
}

const add = (to: Db, name: string) => to.run(sql`insert into things (name) values (${name})`)

const Count = row<{ n: number }>({ n: int })

async function has(name: string): Promise<boolean> {
  const { n } = await db.one(Count, sql`select count(*)::int as n from things where name = ${name}`)
  return n === 1
}

const isOutage = (error: unknown) =>
  error instanceof Refusal && error.code === 'database_unavailable' && error.cause instanceof Error

test('one row means one: none or two is an error', async () => {
  const Name = row<{ name: string }>({ name: text })
  await assert.rejects(db.one(Name, sql`select 'x' as name where false`), /expected one row, got 0/)
  await assert.rejects(db.one(Name, sql`select unnest(array['x', 'y']) as name`), /expected one row, got 2/)
  assert.equal(await db.maybe(Name, sql`select 'x' as name where false`), undefined)
  assert.deepEqual(await db.many(Name, sql`select 'x' as name where false`), [])
})

test('a statement tells how many rows it touched', async () => {
  assert.equal(await add(db, 'counted'), 1)
  assert.equal(await db.run(sql`update things set n = 1 where name = 'nobody'`), 0)
})

test('a transaction that throws leaves nothing and passes its error on', async () => {
  const work = db.transaction(async (tx) => {
    await add(tx, 'rolled back')
    throw new Error('planted')
  })
  await assert.rejects(work, /planted/)
  assert.equal(await has('rolled back'), false)
})

test('a patient transaction waits long, and is rolled back at once when it has to stop', async () => {
  const stopping = new AbortController()
  const Setting = row<{ value: string }>({ value: text })
  const begun = performance.now()
  const work = db.patiently(async (tx) => {
    await add(tx, 'patient')
    assert.deepEqual(await tx.one(Setting, sql`select current_setting('statement_timeout') as value`), {
      value: '30min',
    })
    const idle = sql`select current_setting('idle_in_transaction_session_timeout') as value`
    assert.deepEqual(await tx.one(Setting, idle), { value: '10s' })
    setTimeout(() => stopping.abort(), 100)
    await tx.run(sql`select pg_sleep(60)`)
  }, stopping.signal)
  await assert.rejects(work)
  assert.ok(performance.now() - begun < 5_000)
  assert.equal(await has('patient'), false)
  await assert.rejects(db.patiently((tx) => add(tx, 'late'), stopping.signal))
  const usual = sql`select current_setting('statement_timeout') as value`
  for (let n = 0; n < 4; n++) assert.deepEqual(await db.one(Setting, usual), { value: '15s' })
})

test('stopping a patient transaction that is just over ends nothing of who has its connection next', async () => {
  // Two connections: the first goes from hand to hand, the second is yet to be made, which takes its time.
  const pair = open(url, true, 2)
  const Backend = row<{ pid: number }>({ pid: int })
  const backendOf = (one: Db) => one.one(Backend, sql`select pg_backend_pid() as pid`)
  const stopping = new AbortController()
  const patient = await pair.patiently(async (tx) => {
    const found = await backendOf(tx)
    // Behind the commit, which is written when this has returned.
    setImmediate(() => stopping.abort())
    return found
  }, stopping.signal)
  const next = await pair.transaction(async (tx) => {
    const found = await backendOf(tx)
    await tx.run(sql`select pg_sleep(1)`)
    return found
  })
  assert.deepEqual(next, patient)
})

test('a transaction by keys reads no table as a whole, and the next one may', async () => {
  const Line = row<{ 'QUERY PLAN': string }>({ 'QUERY PLAN': text })
  await db.run(sql`insert into things (name) select 'many ' || n from generate_series(1, 100) n`)
  await db.run(sql`analyze things`)
  const planIn = async (one: Db) => {
    const lines = await one.many(
      Line,
      sql`explain select n from things where name = any(array['many 1', 'x'])`,
    )
    return lines.map((line) => line['QUERY PLAN']).join('\n')
  }
  assert.match(await db.byKeys(planIn), /Index Scan/)
  assert.match(await db.transaction((tx) => tx.byKeys(planIn)), /Index Scan/)
  for (let n = 0; n < 4; n++) assert.match(await planIn(db), /Seq Scan/)
})

test('a transaction inside another joins it', async () => {
  await assert.rejects(
    db.transaction(async (tx) => {
      await tx.transaction((inner) => add(inner, 'joined'))
      throw new Error('planted')
    }),
    /planted/,
  )
  assert.equal(await has('joined'), false)
  assert.equal(await db.transaction((tx) => tx.transaction(async () => 'value')), 'value')
})

test('two transactions that wait for each other are both done in the end', async () => {
  for (const name of ['left', 'right']) await add(db, name)
  let [waiting, tries] = [0, 0]
  let meet = () => {}
  const both = new Promise<void>((resolve) => {
    meet = resolve
  })
  const increase = (first: string, second: string) =>
    db.transaction(async (tx) => {
      tries++
      await tx.run(sql`update things set n = n + 1 where name = ${first}`)
      if (++waiting === 2) meet()
      await both
      await tx.run(sql`update things set n = n + 1 where name = ${second}`)
    })
  await Promise.all([increase('left', 'right'), increase('right', 'left')])
  assert.ok(tries > 2, String(tries))
  const found = await db.many(Count, sql`select n from things where name in ('left', 'right')`)
  assert.deepEqual(found, [{ n: 2 }, { n: 2 }])
})

test('a conflict that does not end is given up after four tries', async () => {
  let tries = 0
  const work = db.transaction(async (tx) => {
    tries++
    await tx.run(sql`do $$ begin raise exception using errcode = '40001'; end $$`)
  })
  await assert.rejects(work)
  assert.equal(tries, 4)
})

test('a value that is taken is told apart from other errors, by its constraint', async () => {
  await add(db, 'taken')
  const error = await add(db, 'taken').catch((thrown: unknown) => thrown)
  assert.equal(isUniqueViolation(error, 'things_name'), true)
  assert.equal(isUniqueViolation(error, 'other'), false)
  const other = await db.run(sql`select 1 / 0`).catch((thrown: unknown) => thrown)
  assert.equal(isUniqueViolation(other, 'things_name'), false)
  assert.ok(!(other instanceof Refusal))
})

test('a database that cannot be reached is a refusal that says so', async () => {
  const nowhere = open('postgres://x:y@127.0.0.1:1/z')
  await assert.rejects(nowhere.run(sql`select 1`), isOutage)
  await assert.rejects(
    nowhere.transaction(async () => {}),
    isOutage,
  )
})

test('a connection cut during a transaction is an outage; afterwards the pool works on', async () => {
  const proxy = await proxyTo(url)
  const through = open(proxy.url)
  await assert.rejects(
    through.transaction(async (tx) => {
      await add(tx, 'cut off')
      proxy.cut()
      await add(tx, 'after the cut')
    }),
    isOutage,
  )
  await assert.rejects(through.run(sql`select 1`), isOutage)
  proxy.mend()
  assert.equal(await add(through, 'after the mending'), 1)
  assert.deepEqual([await has('cut off'), await has('after the mending')], [false, true])
})

test('a server that ends a connection while it changes hands ends nothing else', async () => {
  const proxy = await proxyTo(url)
  const through = open(proxy.url, true, 1)
  await through.run(sql`select 1`)
  proxy.endWithNext()
  const [first, second] = await Promise.allSettled([
    through.run(sql`select 1`),
    through.transaction((tx) => tx.run(sql`select 1`)),
  ])
  assert.equal(first.status, 'fulfilled')
  assert.ok(second.status === 'rejected' && isOutage(second.reason))
  assert.equal(await through.run(sql`select 1`), 1)
})

test('connections that the server ends while they are closed are not told as lost', async () => {
  const proxy = await proxyTo(url)
  const lost: string[] = []
  const onError = ({ message }: Error) => lost.push(message)
  const pools = [1, 2].map(() =>
    openPool({ url: proxy.url, max: 1, name: 'test', durable: true, checkRows: true, onError }),
  )
  for (const pool of pools) await pool.run(sql`select 1`)
  // The server does not hear in time that the first one is closed.
  proxy.silence()
  await pools[0]?.close()
  await proxy.endAll()
  assert.deepEqual(lost, ['terminating connection'])
  await pools[1]?.close()
})

test('a server that ends our connection, or a statement that takes too long, is an outage', async () => {
  const Pid = row<{ pid: number }>({ pid: int })
  await assert.rejects(
    db.transaction(async (tx) => {
      const { pid } = await tx.one(Pid, sql`select pg_backend_pid() as pid`)
      await db.run(sql`select pg_terminate_backend(${pid}, 5000)`)
      await tx.run(sql`select 1`)
    }),
    isOutage,
  )
  await assert.rejects(
    db.transaction(async (tx) => {
      await tx.run(sql`set local statement_timeout = 20`)
      await tx.run(sql`select pg_sleep(5)`)
    }),
    isOutage,
  )
  assert.equal(await db.run(sql`select 1`), 1)
})

test('only what may be lost commits without waiting for the disk', async () => {
  const Mode = row<{ mode: string }>({ mode: text })
  const modeOf = async (pool: Db) =>
    (await pool.one(Mode, sql`select current_setting('synchronous_commit') as mode`)).mode
  assert.equal(await modeOf(db), 'on')
  assert.equal(await modeOf(open(url, false)), 'off')
})

test('what runs last is committed with the rest, and its failure takes everything back', async () => {
  const addLast = (to: Db, name: string) => to.runLast(sql`insert into things (name) values (${name})`)
  await db.transaction(async (tx) => {
    await tx.runLast(sql`update things set name = 'locked' where name = 'to lock'`, 'locks')
    await addLast(tx, 'to lock')
    await addLast(tx, 'last')
    await add(tx, 'before last')
  })
  assert.deepEqual([await has('last'), await has('before last'), await has('locked')], [true, true, true])
  const work = db.transaction(async (tx) => {
    await add(tx, 'with a twin')
    await addLast(tx, 'last')
  })
  await assert.rejects(work, (error) => isUniqueViolation(error, 'things_name'))
  assert.equal(await has('with a twin'), false)
  await addLast(db, 'outside')
  assert.equal(await has('outside'), true)
})

test('a transaction whose assumption fails is run once more without it', async () => {
  const runs: boolean[] = []
  await db.transaction(async (tx) => {
    runs.push(tx.optimistic)
    await add(tx, `run ${runs.length}`)
    if (tx.optimistic) await tx.runLast(sql`select assumption_failed()`)
  })
  assert.deepEqual(runs, [true, false])
  assert.deepEqual([await has('run 1'), await has('run 2')], [false, true])
  const never = db.transaction((tx) => tx.runLast(sql`select assumption_failed()`))
  await assert.rejects(never, { code: 'PH001' })
})

test('statements are not compiled, whatever the server would do', async () => {
  const Setting = row<{ jit: string }>({ jit: text })
  for (const durable of [true, false])
    assert.deepEqual(await open(url, durable).one(Setting, sql`show jit`), { jit: 'off' })
})

test('a server that only reads is away for whoever writes', async () => {
  const writing = db.transaction(async (tx) => {
    await tx.run(sql`set transaction read only`)
    await add(tx, 'x')
  })
  await assert.rejects(writing, (error) => isOutage(error) && /takes no writes/.test(String(error)))
})
