// A storage that fails, accounts that are full, uploads that nobody finished.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { memoryStorage } from '../../../test/contract/media-examples.ts'
import { runOnce } from '../../kernel/job.ts'
import { silentLog } from '../../kernel/log.ts'
import { int, row, text } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'
import { mediaJob } from './clear-files.ts'
import { makeMediaApp } from './fixtures/app.ts'
import { make } from './fixtures/images.ts'
import { mediaLimits } from './limits.ts'
import { takeTurns } from './take-turns.ts'

const inMemory = memoryStorage()
const { files } = inMemory
let fails: 'write' | 'read' | 'remove' | 'after write' | undefined
const storage = {
  ...inMemory,
  write: async (...given: Parameters<typeof inMemory.write>) => {
    if (fails === 'write') throw new Error('the disk is full')
    await inMemory.write(...given)
    if (fails === 'after write') throw new Error('no answer')
  },
  read: async (name: string) => {
    if (fails === 'read') throw new Error('no answer')
    return inMemory.read(name)
  },
  remove: async (name: string) => {
    if (fails === 'remove') throw new Error('no answer')
    return inMemory.remove(name)
  },
}

const app = await makeMediaApp({ storage })
const { db } = app.pools
const png = await make('png')
const minute = 60_000
const clear = (afterMs = 0) =>
  runOnce(mediaJob({ storage, log: silentLog }), { db, now: () => new Date(Date.now() + afterMs) })

const Row = row<{ file: string; state: string }>({ file: text, state: text })
const rows = () => db.many(Row, sql`select file, state from media order by id`)

describe('a storage that fails', () => {
  test('to write is told as such, and leaves nothing', async () => {
    for (const at of ['write', 'after write'] as const) {
      fails = at
      const reply = await app.upload(png)
      assert.deepEqual([reply.status, reply.body.code], [503, 'media_unavailable'], reply.text)
      assert.doesNotMatch(reply.text, /disk is full/)
      assert.equal((await app.call('GET', '/v3/media')).body.count, 0)
      fails = undefined
      await clear()
      assert.deepEqual([await rows(), files.size], [[], 0])
    }
  })

  test('to read is told as such, and is not kept by caches', async () => {
    const { body } = await app.upload(png)
    fails = 'read'
    const seen = await app.see(body.url)
    assert.deepEqual([seen.status, seen.headers.get('cache-control')], [503, 'no-store'])
    const told = (await seen.json()) as { error: { code: string } }
    assert.deepEqual([told.error.code, seen.headers.get('etag')], ['media_unavailable', null])
    assert.equal((await app.see(body.url, { method: 'HEAD' })).status, 200)
    fails = undefined
    assert.equal((await app.see(body.url)).status, 200)
    files.clear()
    assert.equal((await app.see(body.url)).status, 404)
    await app.call('DELETE', `/v3/media/${body.uuid}`)
    await clear()
  })

  test('to remove is asked again later; the image is gone all the same', async () => {
    const { body } = await app.upload(png)
    await app.call('DELETE', `/v3/media/${body.uuid}`)
    fails = 'remove'
    await clear()
    assert.equal((await app.see(body.url)).status, 404)
    fails = undefined
    await clear(minute)
    assert.deepEqual([files.size, (await rows()).length], [1, 1])
    await clear(11 * minute)
    assert.deepEqual([files.size, await rows()], [0, []])
  })
})

test('an upload that nobody finished is cleared away after a while, and not before', async () => {
  const stuck = await app.upload(png)
  await db.run(sql`update media set state = 'pending', clear_at = now() + interval '15 minutes'`)
  assert.equal((await app.see(stuck.body.url)).status, 404)
  assert.equal((await app.call('GET', `/v3/media/${stuck.body.uuid}`)).status, 404)
  assert.equal((await app.call('DELETE', `/v3/media/${stuck.body.uuid}`)).status, 404)
  await clear(14 * minute)
  assert.deepEqual([files.size, (await rows()).map(({ state }) => state)], [1, ['pending']])
  // Several processes do it at once.
  await Promise.all([clear(16 * minute), clear(16 * minute)])
  assert.deepEqual([files.size, await rows()], [0, []])
})

describe('an account that is full', () => {
  const fill = (accountId: string, images: number, size: number) =>
    db.run(sql`
      insert into media (account_id, uuid, state, name, content_type, file, width, height, size, created_at)
      select ${accountId}, gen_random_uuid(), 'stored', 'x', 'image/png', 'x', 1, 1, ${size}::int, now()
        from generate_series(1, ${images}::int)`)

  async function assertOneMore(accountId: string, key: string): Promise<void> {
    const written = files.size
    // At the same time: the last place is given once.
    const replies = await Promise.all(Array.from({ length: 5 }, () => app.upload(png, { key })))
    assert.deepEqual(replies.map(({ status }) => status).sort(), [201, 422, 422, 422, 422])
    const refused = replies.find(({ status }) => status === 422)
    assert.deepEqual([refused?.body.code, files.size - written], ['media_limit_reached', 1])
    const kept = replies.find(({ status }) => status === 201)
    await app.call('DELETE', `/v3/media/${kept?.body.uuid}`, { key })
    await clear()
    assert.equal((await app.upload(png, { key })).status, 201)
    const Used = row<{ images: number; bytes: string }>({ images: int, bytes: text })
    const used = await db.one(
      Used,
      sql`select count(*)::int as images, sum(size)::text as bytes from media where account_id = ${accountId}`,
    )
    assert.ok(used.images <= mediaLimits.images && Number(used.bytes) <= mediaLimits.bytes)
  }

  test('takes no image more, until one is deleted; others are not concerned', async () => {
    const { accountId, key } = await app.makeAccount()
    await fill(accountId, mediaLimits.images - 1, 1)
    await assertOneMore(accountId, key)
    assert.equal((await app.upload(png)).status, 201)
  })

  test('takes no byte more', async () => {
    const { accountId, key } = await app.makeAccount()
    const { body } = await app.upload(png, { key })
    await app.call('DELETE', `/v3/media/${body.uuid}`, { key })
    await clear()
    await fill(accountId, 2, mediaLimits.bytes / 2 - body.size)
    await fill(accountId, 1, body.size)
    await assertOneMore(accountId, key)
  })

  test('can know its limits beforehand', async () => {
    const { body } = await app.call('GET', '/api/v1/capabilities')
    assert.deepEqual(body.limits.media, {
      file_bytes: 10 * 1024 * 1024,
      pixels: 40_000_000,
      frames: 500,
      images: mediaLimits.images,
      bytes: mediaLimits.bytes,
    })
  })
})

test('so many images are worked on at a time, in the order in which they came', async () => {
  const inTurn = takeTurns({ atOnce: 2, waiting: 3, each: 3 })
  const begun: number[] = []
  const ends: (() => void)[] = []
  const work = (n: number) => () =>
    new Promise<void>((resolve) => {
      begun.push(n)
      ends.push(resolve)
    })
  const results = [1, 2, 3, 4, 5].map((n) => inTurn('one', work(n)))
  await assert.rejects(inTurn('one', work(6)), /Too many images/)
  assert.deepEqual(begun, [1, 2])
  for (let i = 0; i < 5; i++) {
    ends[i]?.()
    await results[i]
    assert.ok(begun.length <= i + 3)
  }
  assert.deepEqual(begun, [1, 2, 3, 4, 5])
  await assert.rejects(
    inTurn('one', () => Promise.reject(new Error('broken'))),
    /broken/,
  )
  assert.equal(await inTurn('one', async () => 'free'), 'free')
})

test('an account that sends many images takes no place of others, and they have their turns in between', async () => {
  const inTurn = takeTurns({ atOnce: 1, waiting: 8, each: 3 })
  const begun: string[] = []
  let begin = () => {}
  const first = inTurn('one', () => new Promise<void>((resolve) => (begin = resolve)))
  const work = (name: string) => async () => {
    begun.push(name)
  }
  const results = ['one 1', 'one 2', 'one 3'].map((name) => inTurn('one', work(name)))
  const refused = assert.rejects(inTurn('one', work('one 4')), /Too many images/)
  results.push(inTurn('two', work('two 1')), inTurn('two', work('two 2')))
  begin()
  await Promise.all([first, refused, ...results])
  assert.deepEqual(begun, ['one 1', 'two 1', 'one 2', 'two 2', 'one 3'])
})
