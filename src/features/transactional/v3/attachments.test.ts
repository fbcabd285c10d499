import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Refusal } from '../../../kernel/refusal.ts'
import { fetchAttachments, readAttachments } from './attachments.ts'

const content = Buffer.from('file').toString('base64')

describe('attachments by address', () => {
  test('are replaced by their contents, named by themselves or by their address', async () => {
    const asked: string[] = []
    const fetch = async (url: string) => {
      asked.push(url)
      return Buffer.from('file')
    }
    const body = await fetchAttachments(fetch, {
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
      assert.rejects(fetchAttachments(fetch, { attachment: [{ url }] }), isRefused(words))
    await refused('https://example.com/a.pdf', /could not be read: example\.com answered 404/)
    await refused('https://example.com/a.exe', /extension/)
    await refused('https://example.com/', /name is missing/)
    await refused('not an address', /url in attachment must be an http or https address/)
  })

  test('a body without them is left as it is', async () => {
    const fetch = async () => assert.fail('nothing to fetch')
    const body = { attachment: [{ name: 'b.txt', content }] }
    assert.equal(await fetchAttachments(fetch, body), body)
    assert.deepEqual(await fetchAttachments(fetch, { attachment: null }), { attachment: null })
  })
})
