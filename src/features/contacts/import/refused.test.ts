import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { app, post } from './fixtures/importer.ts'

describe('an import is refused', () => {
  const row = [{ email: 'a@example.com' }]
  const refused: [string, object, number, string, RegExp][] = [
    ['without rows', {}, 400, 'missing_parameter', /fileBody/],
    ['with two sources', { fileBody: 'EMAIL\na@b.co', jsonBody: row }, 400, 'invalid_parameter', /Only one/],
    ['with nothing in it', { jsonBody: [] }, 400, 'invalid_parameter', /empty/],
    ['with no list of entries', { jsonBody: 'a@b.co' }, 400, 'invalid_parameter', /jsonBody must be a list/],
    ['without a heading', { fileBody: 'a@example.com\nb@example.com' }, 400, 'invalid_parameter', /EMAIL/],
    ['with a quote left open', { fileBody: 'EMAIL\n"a@example.com' }, 400, 'invalid_parameter', /line 2/],
    ['with a bad address', { fileUrl: 'file:///etc/passwd' }, 400, 'invalid_parameter', /fileUrl/],
    ['with an unknown list', { jsonBody: row, listIds: [999_999] }, 400, 'invalid_parameter', /999999/],
    ['with a list beyond numbers', { jsonBody: row, listIds: [1e300] }, 400, 'invalid_parameter', /listIds/],
    [
      'with a nameless list',
      { jsonBody: row, newList: {} },
      400,
      'missing_parameter',
      /List name is missing/,
    ],
    [
      'with an unknown folder',
      { jsonBody: row, newList: { listName: 'x', folderId: 999_999 } },
      404,
      'document_not_found',
      /Folder ID does not exist/,
    ],
    [
      'with a full consent',
      { jsonBody: row, consent_ip: '192.0.2.1' },
      400,
      'invalid_parameter',
      /PUT \/v3\/contacts/,
    ],
    [
      'with a full consent in a row',
      { jsonBody: [{ email: 'a@example.com', consent_text: 'Yes' }] },
      400,
      'invalid_parameter',
      /PUT \/v3\/contacts/,
    ],
    ['above 20000 entries', { jsonBody: Array(20_001).fill(row[0]) }, 413, 'invalid_parameter', /20000/],
    [
      'above 20000 rows',
      { fileBody: `EMAIL\n${'a@example.com\n'.repeat(20_001)}` },
      413,
      'invalid_parameter',
      /20000/,
    ],
  ]
  for (const [name, body, status, code, message] of refused) {
    test(name, async () => {
      const one = await app.makeAccount()
      const reply = await post(one, body)
      assert.deepEqual([reply.status, reply.body.code], [status, code], reply.text)
      assert.match(reply.body.message, message)
      assert.equal((await app.call('GET', '/v3/processes', { key: one.key })).body.count, 0)
    })
  }
})
