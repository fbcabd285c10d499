import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'
import { silentLog } from '../../../kernel/log.ts'
import { int, row } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import { readCsv } from '../import/csv.ts'
import { contactLine, headingOf } from './csv.ts'
import { deleteOldFiles } from './queries.ts'
import { readContacts } from './read-contacts.ts'
import { workExports, workPage } from './work-exports.ts'

let offsetMs = 0
const app = await makeApp({
  now: () => new Date(Date.now() + offsetMs),
  env: { POSTHORN_RATE_LIMIT_FACTOR: '100' },
})
const { db } = app.pools
const told: unknown[] = []
const needs = {
  db,
  log: silentLog,
  readers: { EXPORTUSER: readContacts },
  notify: async (url: string, message: object) => void told.push({ url, ...message }),
}
const soon = () => new Date(Date.now() + 1000)

type Body = Record<string, unknown>

async function account() {
  const { key, accountId } = await app.makeAccount()
  const call = (method: string, path: string, body?: unknown) => app.call(method, path, { key, body })
  const add = (body: Body) => call('POST', '/v3/contacts', body)
  const ask = (filter: Body, more: Body = {}) =>
    call('POST', '/v3/contacts/export', { customContactFilter: filter, ...more })
  const read = async (id: number) => (await call('GET', `/v3/processes/${id}`)).body
  const started = async (filter: Body, more: Body = {}) => {
    const { status, body, text } = await ask(filter, more)
    assert.equal(status, 202, text)
    return body.processId as number
  }
  const exported = async (filter: Body, more: Body = {}) => {
    const id = await started(filter, more)
    await workExports(needs, soon())
    return read(id)
  }
  return { key, accountId, call, add, ask, read, started, exported }
}

const fetched = (url: string) => app.call('GET', new URL(url).pathname, { key: null })

async function emailsOf(process: { export_url: string }): Promise<string[]> {
  const [, ...records] = [...readCsv((await fetched(process.export_url)).text)]
  return records.map(({ cells }) => cells[0] ?? '')
}

const many = (accountId: string, count: number) =>
  db.run(sql`
    insert into contacts (account_id, email, created_at, modified_at)
    select ${accountId}, 'p' || n || '@example.com', now(), now() from generate_series(1, ${count}::int) n`)

const onlyEmail = { exportAttributes: ['EMAIL'] }

describe('an export', () => {
  test('is a file of all contacts behind an address of its own', async () => {
    const { add, exported, call } = await account()
    const { body: list } = await call('POST', '/v3/contacts/lists', { name: 'News' })
    await add({
      email: 'ann@example.com',
      ext_id: 'x1',
      attributes: { FIRSTNAME: 'Ann; "the" one', LASTNAME: '=HYPERLINK("x")', SMS: '+33612345678' },
      listIds: [list.id],
      consentSource: 'shop',
    })
    const done = await exported({ actionForContacts: 'allContacts' }, { notifyUrl: 'https://a.example/hook' })
    assert.deepEqual(
      [done.name, done.status, done.info],
      ['CONTACT_EXPORT', 'completed', { export: { total: 1 } }],
    )
    assert.match(done.export_url, /^http:\/\/test\/exports\/[\w-]{43}$/)
    assert.deepEqual(told.at(-1), { url: 'https://a.example/hook', processId: done.id, status: 'completed' })
    const { status, text, headers } = await fetched(done.export_url)
    assert.equal(status, 200)
    assert.equal(headers.get('content-type'), 'text/csv; charset=utf-8')
    assert.match(headers.get('content-disposition') ?? '', /^attachment; filename="contacts-\d+\.csv"$/)
    assert.equal(headers.get('x-content-type-options'), 'nosniff')
    const [heading, record] = [...readCsv(text)]
    const cells = Object.fromEntries((heading?.cells ?? []).map((name, i) => [name, record?.cells[i]]))
    assert.equal(cells.EMAIL, 'ann@example.com')
    assert.deepEqual([cells.FIRSTNAME, cells.LASTNAME], ['Ann; "the" one', `'=HYPERLINK("x")`])
    assert.deepEqual([cells.SMS, cells.EXT_ID, cells.LIST_IDS], ['33612345678', 'x1', String(list.id)])
    const standing = [cells.STATUS, cells.EMAIL_BLACKLISTED, cells.CONSENT_SOURCE]
    assert.deepEqual(standing, ['subscribed', 'false', 'shop'])
    assert.equal((await app.call('HEAD', new URL(done.export_url).pathname, { key: null })).status, 200)
  })

  test('is by status, list, left list and segment', async () => {
    const { add, exported, call, accountId } = await account()
    const { body: list } = await call('POST', '/v3/contacts/lists', { name: 'News' })
    const listId = list.id
    await add({ email: 'a@example.com', listIds: [listId], attributes: { FIRSTNAME: 'Ann' } })
    await add({ email: 'b@example.com', listIds: [listId], emailBlacklisted: true })
    await add({ email: 'c@example.com' })
    await add({ email: 'd@example.com' })
    await db.run(sql`
      insert into list_unsubscriptions (account_id, list_id, contact_id, at)
      select account_id, ${listId}::bigint, id, now()
        from contacts where account_id = ${accountId} and email = 'd@example.com'`)
    const { body: segment } = await call('POST', '/v3/segments', {
      name: 'Anns',
      attribute: 'FIRSTNAME',
      operator: 'eq',
      value: 'Ann',
    })
    const of = async (filter: Body) =>
      (await emailsOf(await exported(filter, onlyEmail))).map((email) => email.slice(0, 1)).join('')
    assert.equal(await of({}), 'abcd')
    assert.equal(await of({ actionForContacts: 'allContacts', listId }), 'ab')
    assert.equal(await of({ actionForContacts: 'subscribed' }), 'acd')
    assert.equal(await of({ actionForContacts: 'subscribed', listId }), 'a')
    assert.equal(await of({ actionForContacts: 'unsubscribed' }), 'b')
    assert.equal(await of({ actionForContacts: 'unsubscribedPerList', listId }), 'd')
    assert.equal(await of({ segmentId: segment.id }), 'a')
    await call('POST', '/api/v1/suppressions', { email: 'c@example.com' })
    assert.equal(await of({ actionForContacts: 'subscribed' }), 'ad')
    assert.equal(await of({ actionForContacts: 'unsubscribed' }), 'bc')
  })

  test('goes on where it stopped, whoever goes on, and has everybody once', async () => {
    const { accountId, started, read } = await account()
    await many(accountId, 3_500)
    const id = await started({}, onlyEmail)
    const failing = { ...needs, db: { ...db, transaction: () => Promise.reject(new Error('away')) } as never }
    await workPage(needs, soon())
    await workPage(failing, soon())
    assert.deepEqual([(await read(id)).status, (await read(id)).export_url], ['processing', undefined])
    const later = new Date(Date.now() + 3_600_000)
    await Promise.all([1, 2, 3].map(() => workExports(needs, later)))
    await workExports(needs, later)
    const done = await read(id)
    assert.deepEqual([done.status, done.info.export.total], ['completed', 3_500])
    const emails = await emailsOf(done)
    assert.deepEqual([emails.length, new Set(emails).size], [3_500, 3_500])
  })

  test('of nobody is a heading', async () => {
    const { exported } = await account()
    const done = await exported({}, { exportAttributes: ['FIRSTNAME', 'email'] })
    assert.equal((await fetched(done.export_url)).text, 'EMAIL;FIRSTNAME\r\n')
  })

  test('has the values of attributes that are called as columns of its own, and both', async () => {
    const { add, exported, call } = await account()
    for (const name of ['TAGS', 'CONTACT_ID', 'ADDED_TIME'])
      await call('POST', `/v3/contacts/attributes/normal/${name}`, { type: 'text' })
    const attributes = { TAGS: 'gold', CONTACT_ID: 'crm-7' }
    const { body: ann } = await add({ email: 'ann@example.com', tags: ['new'], attributes })
    const cellsOf = async (body: Body) => {
      const { text } = await fetched((await exported({}, body)).export_url)
      const [heading, record] = [...readCsv(text)]
      return Object.fromEntries((heading?.cells ?? []).map((name, i) => [name, record?.cells[i]]))
    }
    const { TAGS, _TAGS, CONTACT_ID, _CONTACT_ID, ADDED_TIME, _ADDED_TIME } = await cellsOf({})
    assert.deepEqual([TAGS, _TAGS, CONTACT_ID, _CONTACT_ID], ['gold', 'new', 'crm-7', String(ann.id)])
    assert.deepEqual([ADDED_TIME, String(_ADDED_TIME).slice(0, 2)], ['', '20'])
    const asked = { exportAttributes: ['tags', '_tags', 'LASTNAME'] }
    assert.deepEqual(await cellsOf(asked), {
      EMAIL: 'ann@example.com',
      TAGS: 'gold',
      _TAGS: 'new',
      LASTNAME: '',
    })
    const timed = await cellsOf({ ...asked, exportMandatoryAttributes: true })
    assert.deepEqual(Object.keys(timed).slice(4), ['_ADDED_TIME', 'MODIFIED_TIME'])
  })

  test('refuses what it cannot do, in a sentence', async () => {
    const { ask, call } = await account()
    const refused = async (
      reply: { status: number; body: { message: string } },
      status: number,
      says: RegExp,
    ) => {
      assert.deepEqual(
        [reply.status, says.test(reply.body.message)],
        [status, true],
        JSON.stringify(reply.body),
      )
    }
    await refused(await call('POST', '/v3/contacts/export', {}), 400, /customContactFilter/)
    await refused(await ask({ actionForContacts: 'some' }), 400, /actionForContacts/)
    await refused(await ask({ actionForContacts: 'unsubscribedPerList' }), 400, /listId/)
    await refused(await ask({ listId: 999_999 }), 400, /does not exist/)
    await refused(await ask({ listId: Number.MAX_SAFE_INTEGER + 1 }), 400, /listId/)
    await refused(await ask({ segmentId: 999_999 }), 404, /Segment/)
    await refused(await ask({ actionForEmailCampaigns: 'openers' }), 400, /not supported/)
    await refused(await ask({}, { exportAttributes: ['NOPE'] }), 400, /NOPE/)
    await refused(await ask({}, { notifyUrl: 'ftp://x' }), 400, /http/)
  })

  test('belongs to its account, and its address cannot be guessed', async () => {
    const [one, other] = [await account(), await account()]
    await one.add({ email: 'a@example.com' })
    const done = await one.exported({})
    assert.equal((await other.call('GET', `/v3/processes/${done.id}`)).status, 404)
    assert.deepEqual(await emailsOf(await other.exported({}, onlyEmail)), [])
    for (const token of ['x', 'A'.repeat(43), `${done.export_url.slice(-43, -1)}!`, '%00'])
      assert.equal((await app.call('GET', `/exports/${token}`, { key: null })).status, 404, token)
  })

  test('is deleted after seven days', async () => {
    const { add, exported, read, accountId } = await account()
    await add({ email: 'a@example.com' })
    const done = await exported({})
    offsetMs = 7 * 86_400_000 + 60_000
    assert.equal((await fetched(done.export_url)).status, 404)
    offsetMs = 0
    await deleteOldFiles(db, new Date(Date.now() - 60_000))
    assert.equal((await fetched(done.export_url)).status, 200)
    await deleteOldFiles(db, new Date(Date.now() + 60_000))
    assert.equal((await fetched(done.export_url)).status, 404)
    assert.deepEqual(
      [(await read(done.id)).export_url, (await read(done.id)).status],
      [undefined, 'completed'],
    )
    assert.equal(await pagesOf(accountId), 0)
  })
})

const Count = row<{ n: number }>({ n: int })
const pagesOf = async (accountId: string) =>
  (await db.one(Count, sql`select count(*)::int as n from export_chunks where account_id = ${accountId}`)).n

describe('erasing a person', () => {
  const erase = (who: { call: Awaited<ReturnType<typeof account>>['call'] }, email: string) =>
    who.call('POST', '/api/v1/contacts/erase', { email, confirm: true })

  test('deletes the files that name them, also when the contact was deleted before, and no other', async () => {
    const one = await account()
    await one.add({ email: 'xann@example.com' })
    const before = await one.exported({})
    await one.add({ email: 'ann@example.com' })
    const [with1, with2] = [await one.exported({}), await one.exported({})]
    await one.call('DELETE', '/v3/contacts/ann@example.com')
    const { body } = await erase(one, 'ann@example.com')
    assert.equal(body.erased.export_files, 2)
    for (const { id, export_url } of [with1, with2]) {
      assert.equal((await fetched(export_url)).status, 404)
      assert.match((await one.read(id)).error, /erased/)
    }
    assert.equal((await fetched(before.export_url)).status, 200)
  })

  test('finds addresses that were made harmless', async () => {
    const one = await account()
    await one.add({ email: '-ann@example.com' })
    const { export_url } = await one.exported({})
    assert.match((await fetched(export_url)).text, /'-ann@/)
    assert.equal((await erase(one, '-ann@example.com')).body.erased.export_files, 1)
  })

  test('makes an export under way start again without them', async () => {
    const one = await account()
    await many(one.accountId, 2_500)
    const id = await one.started({}, onlyEmail)
    await workPage(needs, soon())
    await Promise.all([erase(one, 'p7@example.com'), workPage(needs, soon()), workPage(needs, soon())])
    await workExports(needs, soon())
    const emails = await emailsOf(await one.read(id))
    assert.deepEqual([emails.length, emails.includes('p7@example.com')], [2_499, false])
  })
})

test('an export does not wait for all that another account has asked for', async () => {
  const [busy, other] = [await account(), await account()]
  await many(other.accountId, 2_500)
  for (let i = 0; i < 120; i++) await busy.started({})
  const id = await other.started({})
  await workExports(needs, soon())
  assert.equal((await other.read(id)).status, 'completed')
  for (let turn = 0; turn < 2; turn++) await workExports(needs, soon())
})

test('cells that a spreadsheet would run are made harmless; numbers stay numbers', () => {
  const contact = { attributes: {} as Record<string, unknown> }
  const columns = ['A', 'B', 'C', 'D', 'E', 'F', 'G', 'H', 'I']
  const values = ['=1', '+1', '-1', '@x', '\tx', '\rx', -5, 'a,b', ['x', 'y,z']]
  columns.forEach((name, i) => {
    contact.attributes[name] = values[i]
  })
  const line = contactLine(columns, contact as never)
  assert.equal(line, `'=1;'+1;'-1;'@x;'\tx;"'\rx";-5;"a,b";"x,""y,z"""\r\n`)
  assert.equal(headingOf(['EMAIL', 'A']), 'EMAIL;A\r\n')
})
