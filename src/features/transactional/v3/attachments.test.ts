import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { nobody } from '../../../kernel/ctx.ts'
import { Refusal } from '../../../kernel/refusal.ts'
import { type FetchAttachment, fetchAttachments, readAttachments, roomBeside } from './attachments.ts'
import type { SendBody } from './send-request.ts'

const asked = { caller: { ...nobody, accountId: '1' } }

const fetchAll = (fetch: FetchAttachment, body: SendBody) =>
  fetchAttachments(asked, fetch, body, roomBeside(body.attachment))

const turn = () => new Promise<void>((resolve) => setImmediate(resolve))

const content = Buffer.from('file').toString('base64')

describe('attachments by address', () => {
  test('are replaced by their contents, named by themselves or by their address', async () => {
    const asked: string[] = []
    const fetch = async (url: string) => {
      asked.push(url)
      return Buffer.from('file')
    }
    const body = await fetchAll(fetch, {
      attachment: [
        { url: 'https://example.com/files/price%20list.pdf?x=1' },
        { url: 'https://example.com/get', name: 'a.csv' },
        { name: 'b.txt', content },
        { url: 'https://example.com/unused', name: 'c.txt', content },
      ],
    })
    assert.deepEqual(asked, ['https://example.com/files/price%20list.pdf?x=1', 'https://example.com/get'])
    const read = readAttachments(body.attachment)
    assert.deepEqual(
      read.map((one) => `${one.filename} ${one.contentType} ${one.content}`),
      [
        'price list.pdf application/pdf file',
        'a.csv text/csv file',
        'b.txt text/plain file',
        'c.txt text/plain file',
      ],
    )
  })

  test('that cannot be read, or have no allowed name, are refused', async () => {
    const fetch = async () => {
      throw new Error('example.com answered 404')
    }
    const isRefused = (words: RegExp) => (error: unknown) =>
      error instanceof Refusal && words.test(error.message)
    const refused = (url: string, words: RegExp) =>
      assert.rejects(fetchAll(fetch, { attachment: [{ url }] }), isRefused(words))
    await refused('https://example.com/a.pdf', /could not be read: example\.com answered 404/)
    await refused('https://example.com/a.exe', /extension/)
    await refused('https://example.com/', /name is missing/)
    await refused('not an address', /url in attachment must be an http or https address/)
  })

  test('a body without them is left as it is', async () => {
    const fetch = async () => assert.fail('nothing to fetch')
    const body = { attachment: [{ name: 'b.txt', content }] }
    assert.equal(await fetchAll(fetch, body), body)
    assert.deepEqual(await fetchAll(fetch, { attachment: null }), { attachment: null })
  })

  const megabytes = (n: number) => Buffer.alloc(n * 1024 * 1024)
  const addresses = (n: number) =>
    Array.from({ length: n }, (_, i) => ({ url: `https://example.com/${i}.pdf` }))
  const refusedAs = (code: string, words: RegExp) => (error: unknown) =>
    error instanceof Refusal && error.code === code && words.test(error.message)
  const isTooMuch = refusedAs('payload_too_large', /larger than 20 MB together/)

  test('share the room that is left, and none is fetched once it is gone', async () => {
    const rooms: (number | undefined)[] = []
    const fetch = async (_url: string, mostBytes?: number) => {
      rooms.push(mostBytes && mostBytes / 1024 / 1024)
      return megabytes(7)
    }
    await assert.rejects(fetchAll(fetch, { attachment: addresses(9) }), isTooMuch)
    assert.deepEqual(rooms, [20, 13, 6])
    rooms.length = 0
    const inline = { name: 'b.txt', content: megabytes(14).toString('base64') }
    await assert.rejects(fetchAll(fetch, { attachment: [...addresses(1), inline] }), isTooMuch)
    assert.deepEqual(rooms, [6])
  })

  test('are broken off where they are too large', async () => {
    const fetch = async () => {
      throw Object.assign(new Error('sent more than 6 bytes'), { code: 'too_large' })
    }
    await assert.rejects(fetchAll(fetch, { attachment: addresses(1) }), isTooMuch)
  })

  test('are counted before the first is fetched', async () => {
    const fetch = async () => assert.fail('nothing to fetch')
    const tooMany = refusedAs('invalid_parameter', /at most 20 entries with a url/)
    await assert.rejects(fetchAll(fetch, { attachment: addresses(21) }), tooMany)
    const file = { name: 'b.txt', content }
    const whole = { attachment: [...addresses(1), ...Array.from({ length: 50 }, () => file)] }
    await assert.rejects(fetchAll(fetch, whole), refusedAs('invalid_parameter', /at most 50 entries$/))
  })

  test('nothing is fetched for a request whose own files are too large already', () => {
    const files = [megabytes(11), megabytes(10)].map((one) => ({
      name: 'b.txt',
      content: one.toString('base64'),
    }))
    assert.throws(() => roomBeside(files), isTooMuch)
    assert.throws(() => readAttachments(files), isTooMuch)
    const broken = files
      .slice(0, 1)
      .map((one) => ({ ...one, content: one.content.replaceAll(/(.{76})/g, '$1\r\n') }))
    assert.equal(readAttachments(broken)[0]?.content.length, 11 * 1024 * 1024)
  })

  test('a request waits for all of them together no longer than a minute', async () => {
    const fetch = async () => assert.fail('nothing to fetch')
    const room = { ...roomBeside(undefined), until: performance.now() - 1 }
    const late = refusedAs('invalid_parameter', /took too long together/)
    await assert.rejects(fetchAttachments(asked, fetch, { attachment: addresses(1) }, room), late)
  })

  test('are in memory for eight requests of an account at a time', async () => {
    const ends: (() => void)[] = []
    const fetch = () => new Promise<Buffer>((resolve) => ends.push(() => resolve(Buffer.from('file'))))
    const body = { attachment: addresses(1) }
    const requests = Array.from({ length: 9 }, () => fetchAll(fetch, body))
    await turn()
    assert.equal(ends.length, 8)
    const stranger = { caller: { ...asked.caller, accountId: '2' } }
    requests.push(fetchAttachments(stranger, fetch, body, roomBeside(undefined)))
    await turn()
    assert.equal(ends.length, 9)
    while (ends.length > 0) {
      for (const end of ends.splice(0)) end()
      await turn()
    }
    assert.equal((await Promise.all(requests)).length, 10)
  })
})
