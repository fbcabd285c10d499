import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, describe, test } from 'node:test'
import { openGuardedClient } from '../../../adapters/guarded-http/guarded-http.ts'
import { filesThrough } from '../../../main/jobs.ts'
import { fetchFiles } from './fetch-files.ts'
import { accepted, account, contactsOf, figures, needs, processOf, soon } from './fixtures/importer.ts'
import { type ImportNeeds, workImports } from './work-imports.ts'

const accents = 'EMAIL,FIRSTNAME\nzoe@example.com,Zoé'
const files: Record<string, { type?: string; body: string | Buffer; status?: number }> = {
  '/utf8.csv': { type: 'text/csv', body: accents },
  '/windows.csv': { type: 'text/csv', body: Buffer.from(accents, 'latin1') },
  '/utf16.txt': { type: 'text/plain', body: Buffer.from(`\uFEFF${accents}`, 'utf16le') },
  '/declared.csv': { type: 'text/csv; charset=ISO-8859-1', body: Buffer.from(accents, 'latin1') },
  '/list.json': { body: JSON.stringify([{ email: 'zoe@example.com', attributes: { FIRSTNAME: 'Zoé' } }, 5]) },
  '/broken.json': { body: '{"a":' },
  '/object.json': { body: '{}' },
  '/deep.json': { body: '['.repeat(101) + ']'.repeat(101) },
  '/many.json': { body: `[{"email":"a@b.example","lists":[${'{},'.repeat(500_000)}0]}]` },
  '/heading.csv': { body: 'EMAIL;AGE\n' },
  '/none.csv': { body: '' },
  '/consent.csv': { body: 'EMAIL;CONSENT_TEXT\na@example.com;yes' },
  '/long.csv': { body: `EMAIL\n${'a@example.com\n'.repeat(20_001)}` },
  '/gone.csv': { status: 404, body: 'EMAIL\na@example.com' },
  '/large.csv': { body: Buffer.alloc(20 * 1024 * 1024 + 1) },
}
const told: { url: string; body: string }[] = []

const server = createServer(async (request, reply) => {
  const { url = '', method } = request
  if (method === 'POST') {
    let body = ''
    for await (const chunk of request) body += chunk
    told.push({ url, body })
  }
  const file = files[url]
  reply.writeHead(file?.status ?? 200, { 'content-type': file?.type ?? 'application/octet-stream' })
  reply.end(file?.body)
})
let base = ''
before(async () => {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
})
after(() => server.close())

const inside = openGuardedClient({ allowPrivate: true })
const outside = openGuardedClient({ allowPrivate: false })
after(() => Promise.all([inside.close(), outside.close()]))
const reaching = { ...needs, ...filesThrough(inside) }
const guarded = { ...needs, ...filesThrough(outside) }

const never = new AbortController().signal
const fetchAll = (having: ImportNeeds, now = soon()) => fetchFiles({ ...having, now: () => now }, never)
const work = async (having: ImportNeeds, now = soon()) => {
  await fetchAll(having, now)
  await workImports(having, now)
}

describe('a file by its address', () => {
  for (const path of ['/utf8.csv', '/windows.csv', '/utf16.txt', '/declared.csv', '/list.json']) {
    test(`is read whatever its encoding: ${path}`, async () => {
      const one = await account()
      const id = await accepted(one, { fileUrl: base + path })
      await work(reaching)
      const process = await processOf(one, id)
      assert.equal(process.status, 'completed', process.error)
      assert.equal(process.info.import.created, 1)
      assert.deepEqual((await contactsOf(one))[0].attributes, { FIRSTNAME: 'Zoé' })
    })
  }

  test('without rows completes with none', async () => {
    const one = await account()
    const id = await accepted(one, { fileUrl: `${base}/heading.csv` })
    await work(reaching)
    const { status, info, completed_at } = await processOf(one, id)
    assert.deepEqual([status, figures(info.import).total], ['completed', 0])
    assert.ok(completed_at)
  })

  const failing: [string, RegExp][] = [
    ['/none.csv', /empty/],
    ['/broken.json', /JSON list/],
    ['/object.json', /JSON list/],
    ['/deep.json', /^The file nests deeper than 100 levels/],
    ['/many.json', /^The file holds more than 500000 objects and lists/],
    ['/consent.csv', /POST \/v3\/contacts/],
    ['/long.csv', /at most 20000 rows/],
    ['/gone.csv', /answered 404/],
    ['/large.csv', /more than 20971520 bytes/],
  ]
  for (const [path, reason] of failing) {
    test(`that is not one fails the process, with the reason: ${path}`, async () => {
      const one = await account()
      const id = await accepted(one, { fileUrl: base + path })
      await work(reaching)
      const process = await processOf(one, id)
      assert.equal(process.status, 'failed')
      assert.match(process.error, reason)
      assert.deepEqual(await contactsOf(one), [])
    })
  }

  test('on a private network is not fetched', async () => {
    const one = await account()
    const ids = []
    for (const host of [base, 'http://169.254.169.254', 'http://10.0.0.1'])
      ids.push(await accepted(one, { fileUrl: `${host}/utf8.csv` }))
    await work(guarded)
    for (const id of ids) {
      const process = await processOf(one, id)
      assert.equal(process.status, 'failed')
      assert.match(process.error, /not a public address/)
    }
  })

  test('whose fetching was killed is fetched again', async () => {
    const one = await account()
    const id = await accepted(one, { fileUrl: `${base}/utf8.csv` })
    // Killed while the file was on its way: nothing after the lease is ever done.
    const endless = new Promise<never>(() => {})
    const killed = new AbortController()
    after(() => killed.abort())
    void fetchFiles({ ...needs, fetchFile: () => endless, now: soon }, killed.signal)
    while ((await processOf(one, id)).status === 'queued') await new Promise((done) => setTimeout(done, 10))
    await work(reaching)
    assert.equal((await processOf(one, id)).status, 'processing', 'somebody is at it')
    await work(reaching, new Date(Date.now() + 600_000))
    assert.equal((await processOf(one, id)).status, 'completed')
  })

  test('that somebody else has read since is not failed by who comes back after the lease', async () => {
    const one = await account()
    const id = await accepted(one, { fileUrl: `${base}/utf8.csv` })
    let fail = () => {}
    const failed = new Promise<void>((resolve) => {
      fail = resolve
    })
    const fetchFile = async () => {
      await failed
      throw new Error('the connection broke')
    }
    const standing = fetchFiles({ ...needs, fetchFile, now: soon }, never)
    while ((await processOf(one, id)).status === 'queued') await new Promise((done) => setTimeout(done, 10))
    const later = new Date(Date.now() + 600_000)
    const slowly = async (url: string) => {
      fail()
      await standing
      return reaching.fetchFile(url)
    }
    await fetchFiles({ ...reaching, fetchFile: slowly, now: () => later }, never)
    await workImports(reaching, later)
    const process = await processOf(one, id)
    assert.deepEqual([process.status, process.info.import.created], ['completed', 1])
  })

  test('that takes long keeps nobody else waiting, and few places of all', async () => {
    const [slow, other] = [await account(), await account()]
    for (let i = 0; i < 12; i++) await accepted(slow, { fileUrl: `${base}/slow.csv` })
    let end = () => {}
    const ended = new Promise<void>((resolve) => {
      end = resolve
    })
    let begun = 0
    const fetchFile = async (url: string) => {
      if (!url.endsWith('/slow.csv')) return reaching.fetchFile(url)
      begun++
      await ended
      throw new Error('it took too long')
    }
    const fetching = fetchFiles({ ...needs, fetchFile, now: soon }, never)
    const id = await accepted(other, { fileUrl: `${base}/utf8.csv` })
    while ((await processOf(other, id)).status !== 'completed') await workImports(needs, soon())
    assert.equal(begun, 2)
    end()
    await fetching
    assert.equal(begun, 12)
  })
})

test('the address that was named is told of the end', async () => {
  const one = await account()
  const body = { fileBody: 'EMAIL\na@example.com', notifyUrl: `${base}/told` }
  const id = await accepted(one, body)
  await workImports(reaching, soon())
  assert.deepEqual(told, [{ url: '/told', body: JSON.stringify({ processId: id, status: 'completed' }) }])
  const silent = await accepted(one, { ...body, notifyUrl: `${base}/private` })
  await workImports(guarded, soon())
  assert.equal((await processOf(one, silent)).status, 'completed')
  assert.equal(told.length, 1)
  await accepted(one, body)
  await workImports({ ...needs, ...filesThrough(outside, inside) }, soon())
  assert.equal(told.length, 2, 'where webhooks may go, whatever files may be fetched')
})
