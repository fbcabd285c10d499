// What is in the library, and the public addresses.
import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, describe, test } from 'node:test'
import { openGuardedClient } from '../../adapters/guarded-http/guarded-http.ts'
import { runOnce } from '../../kernel/job.ts'
import { silentLog } from '../../kernel/log.ts'
import { readConfig } from '../../main/config.ts'
import { openMediaStorage } from '../../main/media.ts'
import { mediaJob } from './clear-files.ts'
import { makeMediaApp } from './fixtures/app.ts'
import { make } from './fixtures/images.ts'

const app = await makeMediaApp()
const { db } = app.pools
const png = await make('png')
const content = png.toString('base64')

const storage = openMediaStorage(readConfig({ POSTHORN_DATA_DIR: app.dataDir }))
const clear = () => runOnce(mediaJob({ storage, log: silentLog }), { db, now: () => new Date() })

describe('the library', () => {
  test('lists the images of the account, newest first, page by page', async () => {
    const { key } = await app.makeAccount()
    for (const name of ['a', 'b', 'c']) await app.call('POST', '/v3/media', { key, body: { name, content } })
    const names = ({ body }: { body: { images: { name: string }[] } }) => body.images.map(({ name }) => name)
    const all = await app.call('GET', '/v3/media', { key })
    assert.deepEqual([all.body.count, names(all), all.body.next_cursor], [3, ['c', 'b', 'a'], null])
    const first = await app.call('GET', '/v3/media?limit=2&sort=asc', { key })
    const cursor = encodeURIComponent(first.body.next_cursor)
    const rest = await app.call('GET', `/v3/media?limit=2&sort=asc&cursor=${cursor}`, { key })
    assert.deepEqual([names(first), names(rest), rest.body.count], [['a', 'b'], ['c'], 3])
    assert.deepEqual(names(await app.call('GET', '/v3/media?limit=1&offset=1', { key })), ['b'])
    assert.equal((await app.call('GET', '/v3/media?limit=201', { key })).status, 400)
    const one = await app.call('GET', `/v3/media/${all.body.images[0].uuid.toUpperCase()}`, { key })
    assert.deepEqual(one.body, all.body.images[0])
  })

  test('of one account is nothing to another', async () => {
    const { body } = await app.upload(png)
    const { key } = await app.makeAccount()
    for (const method of ['GET', 'DELETE']) {
      const reply = await app.call(method, `/v3/media/${body.uuid}`, { key })
      assert.deepEqual([reply.status, reply.body.code], [404, 'document_not_found'])
    }
    assert.deepEqual((await app.call('GET', '/v3/media', { key })).body.count, 0)
    assert.equal((await app.see(body.url)).status, 200)
  })

  test('knows nothing by a wrong identifier', async () => {
    for (const uuid of [
      'x',
      '1',
      '%00',
      '..%2f..%2fetc',
      '00000000-0000-4000-8000-000000000000',
      'x'.repeat(99),
    ])
      for (const method of ['GET', 'DELETE']) {
        const { status } = await app.call(method, `/v3/media/${uuid}`)
        assert.ok(status === 404 || status === 400, `${uuid} ${status}`)
      }
  })
})

describe('the public address', () => {
  test('shows the image to everybody, for ever, and as nothing else', async () => {
    const { body } = await app.upload(png, { name: 'x.html' })
    const seen = await app.see(body.url)
    const expected = {
      'content-type': 'image/png',
      'content-length': String(body.size),
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      'content-security-policy': "default-src 'none'; sandbox",
      'cross-origin-resource-policy': 'cross-origin',
      'content-disposition': 'inline; filename="x.png"',
      etag: `"${body.uuid}"`,
    }
    const headersOf = ({ headers }: Response) =>
      Object.fromEntries(Object.keys(expected).map((name) => [name, headers.get(name)]))
    assert.deepEqual(headersOf(seen), expected)
    const head = await app.see(body.url, { method: 'HEAD' })
    assert.deepEqual([head.status, headersOf(head), await head.text()], [200, expected, ''])
    for (const known of [`"${body.uuid}"`, `"a", W/"${body.uuid}"`, '*']) {
      const again = await app.see(body.url, { headers: { 'if-none-match': known } })
      assert.deepEqual(
        [again.status, again.headers.get('etag'), await again.text()],
        [304, expected.etag, ''],
      )
    }
    assert.equal((await app.see(body.url, { headers: { 'if-none-match': '"other"' } })).status, 200)
  })

  test('is one address only', async () => {
    const { body } = await app.upload(png)
    const paths = [
      `/m/${body.uuid}.png`,
      `/m/${body.uuid.toUpperCase()}`,
      `/m/..%2f..%2fsecret-key`,
      `/m/${body.uuid}%00`,
      `/m/%2e%2e/media`,
      '/m/',
      '/media',
    ]
    for (const path of paths) assert.equal((await app.call('GET', path, { key: null })).status, 404, path)
    assert.equal((await app.call('POST', `/m/${body.uuid}`, { key: null })).status, 404)
  })

  test('is gone at once when the image is deleted, in every process, and the file soon after', async () => {
    const other = await makeMediaApp({
      databaseUrl: app.databaseUrl,
      env: { POSTHORN_DATA_DIR: app.dataDir },
    })
    const { body } = await app.upload(png)
    assert.equal((await other.see(body.url)).status, 200)
    assert.equal((await app.call('DELETE', `/v3/media/${body.uuid}`)).status, 204)
    const known = { headers: { 'if-none-match': `"${body.uuid}"` } }
    for (const seen of [await other.see(body.url), await app.see(body.url), await app.see(body.url, known)])
      assert.deepEqual([seen.status, seen.headers.get('cache-control')], [404, 'no-store'])
    assert.equal((await app.call('GET', `/v3/media/${body.uuid}`)).status, 404)
    assert.equal((await app.call('DELETE', `/v3/media/${body.uuid}`)).status, 404)
    await clear()
    assert.ok(!(await app.files()).some((name) => name.startsWith(body.uuid)))
  })
})

describe('an image at an address', () => {
  test('is taken into the library, and the way to it is guarded', async () => {
    const server = createServer((request, reply) => {
      if (request.url === '/moved') reply.writeHead(302, { location: '/a.png' }).end()
      else if (request.url === '/page') reply.end('<html>')
      else if (request.url === '/large') reply.end(Buffer.alloc(11 * 1024 * 1024))
      else if (request.url === '/gone') reply.writeHead(410).end()
      else reply.end(png)
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const client = openGuardedClient({ allowPrivate: true })
    after(async () => {
      await client.close()
      server.close()
    })
    const open = await makeMediaApp({ fetchClient: client })
    const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    const take = (imageUrl: unknown, more = {}) =>
      open.call('POST', '/v3/emailCampaigns/images', { body: { imageUrl, ...more } })
    const taken = await take(`${at}/folder/Our%20logo.png?x=1`)
    assert.deepEqual([taken.status, Object.keys(taken.body)], [201, ['url']], taken.text)
    assert.equal((await open.see(taken.body.url)).status, 200)
    await take(`${at}/a.png`, { name: 'Named' })
    const { body } = await open.call('GET', '/v3/media')
    assert.deepEqual(
      body.images.map(({ name }: { name: string }) => name),
      ['Named', 'Our logo.png'],
    )
    for (const wrong of [
      `${at}/moved`,
      `${at}/page`,
      `${at}/large`,
      `${at}/gone`,
      'ftp://x/a.png',
      'x',
      '',
      5,
      null,
    ])
      assert.equal((await take(wrong)).status, 400, String(wrong))
    for (const wrong of [`${at}/a.png`, 'http://169.254.169.254/latest', 'http://localhost/x.png']) {
      const reply = await app.call('POST', '/v3/emailCampaigns/images', { body: { imageUrl: wrong } })
      assert.equal(reply.status, 400, reply.text)
    }
  })
})
