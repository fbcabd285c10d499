import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { account, contactsOf, figures, imported, makeList, query } from './fixtures/importer.ts'

describe('an import', () => {
  test('of a file makes contacts with their values and puts them on lists', async () => {
    const one = await account()
    const list = await makeList(one)
    const fileBody = [
      '\uFEFFemail;firstname;AGE;VIP;BIRTH;PLAN;TOPICS;SCORE;NOSUCH;SMS;EXT_ID',
      'Ann@Example.COM;"Ann;""A""";41,5;yes;1985-02-28;paid;News,offers;7;x;+33 6 12 34 56 78;a-1',
      'bob@example.com;;;;;;;;;;',
    ].join('\r\n')
    const result = await imported(one, { fileBody, listIds: [list] })
    assert.deepEqual(figures(result), { total: 2, created: 2, updated: 0, skipped: 0, faulty: 0 })
    assert.deepEqual(result.ignoredColumns, ['SCORE', 'NOSUCH'])
    const [ann, bob] = await contactsOf(one)
    assert.deepEqual(ann.attributes, {
      FIRSTNAME: 'Ann;"A"',
      AGE: 41.5,
      VIP: true,
      BIRTH: '1985-02-28',
      PLAN: 2,
      TOPICS: ['News', 'Offers'],
    })
    assert.deepEqual(
      [ann.email, ann.sms, ann.ext_id, ann.lists],
      ['ann@example.com', '33612345678', 'a-1', [list]],
    )
    assert.deepEqual([bob.attributes, bob.lists, bob.status], [{}, [list], 'subscribed'])
    const [count] = await query('select contacts from contact_counts where list_id = $1', [list])
    assert.equal(count.contacts, '2')
    assert.deepEqual(await query('select 1 from process_chunks where account_id = $1', [one.accountId]), [])
  })

  test('changes known contacts, keeps their other values and tells the history', async () => {
    const one = await account()
    await imported(one, { fileBody: 'EMAIL,FIRSTNAME,AGE\na@example.com,Ann,1\nb@example.com,Bob,2' })
    const again = {
      jsonBody: [{ email: 'A@example.com', attributes: { age: 3 } }, { email: 'b@example.com' }],
    }
    assert.deepEqual(figures(await imported(one, again)), {
      total: 2,
      created: 0,
      updated: 2,
      skipped: 0,
      faulty: 0,
    })
    const [ann, bob] = await contactsOf(one)
    assert.deepEqual(ann.attributes, { FIRSTNAME: 'Ann', AGE: 3 })
    assert.deepEqual(bob.created_at, bob.modified_at, 'nothing changed')
    const history = await query(
      'select attribute, old_value, new_value, source from contact_history where account_id = $1',
      [one.accountId],
    )
    assert.deepEqual(history, [{ attribute: 'AGE', old_value: 1, new_value: 3, source: 'import' }])
  })

  test('erases with blank cells only when told to', async () => {
    const one = await account()
    const file = 'EMAIL;FIRSTNAME;AGE\na@example.com;Ann;1'
    const blank = 'EMAIL;FIRSTNAME;AGE\na@example.com;;2'
    await imported(one, { fileBody: file })
    await imported(one, { fileBody: blank })
    assert.deepEqual((await contactsOf(one))[0].attributes, { FIRSTNAME: 'Ann', AGE: 2 })
    await imported(one, { fileBody: blank, emptyContactsAttributes: true })
    assert.deepEqual((await contactsOf(one))[0].attributes, { AGE: 2 })
    const choose = (TOPICS: string[]) => [{ email: 'a@example.com', attributes: { TOPICS } }]
    for (const topics of [['News'], []]) await imported(one, { jsonBody: choose(topics) })
    assert.deepEqual((await contactsOf(one))[0].attributes.TOPICS, ['News'])
    await imported(one, { jsonBody: choose([]), emptyContactsAttributes: true })
    assert.deepEqual((await contactsOf(one))[0].attributes.TOPICS, [])
  })

  test('leaves known contacts as they are when told to, and still puts them on the list', async () => {
    const one = await account()
    await imported(one, { fileBody: 'EMAIL;AGE\na@example.com;1' })
    const list = await makeList(one)
    const body = { fileBody: 'EMAIL;AGE\na@example.com;2\nb@example.com;2', listIds: [list] }
    const result = await imported(one, { ...body, updateExistingContacts: false })
    assert.deepEqual(figures(result), { total: 2, created: 1, updated: 0, skipped: 1, faulty: 0 })
    const all = await contactsOf(one)
    assert.deepEqual(
      all.map(({ attributes, lists }) => [attributes.AGE, lists]),
      [
        [1, [list]],
        [2, [list]],
      ],
    )
  })

  test('keeps the good rows and names the bad ones', async () => {
    const one = await account()
    const fileBody = [
      'EMAIL;AGE;CONSENT_DATE;EXT_ID',
      'good@example.com;1;31/01/2026;x',
      'nobody;1;;',
      'old@example.com;young;;',
      '"late',
      'r@example.com";1;;',
      'feb@example.com;1;31/02/2026;',
      ';1;;',
      'many@example.com;1;;;more',
      'other@example.com;1;;x',
      'fine@example.com;2;2026-01-31T10:00:00+01:00;',
      'soon@example.com;1;31/01/2999;',
    ].join('\n')
    const result = await imported(one, { fileBody })
    assert.deepEqual(figures(result), { total: 10, created: 2, updated: 0, skipped: 0, faulty: 8 })
    assert.deepEqual(
      result.faultyRows.map(({ line, email }: { line: number; email: string }) => [line, email]),
      [
        [3, 'nobody'],
        [4, 'old@example.com'],
        [5, 'late\nr@example.com'],
        [7, 'feb@example.com'],
        [8, ''],
        [9, 'many@example.com'],
        [10, 'other@example.com'],
        [12, 'soon@example.com'],
      ],
    )
    assert.deepEqual(
      [1, 3, 6, 7].map((i) => result.faultyRows[i].reason),
      [
        'AGE must be a number',
        'CONSENT_DATE must be a date such as 2026-11-15 or 15/11/2026',
        'EXT_ID belongs to another contact',
        'CONSENT_DATE is in the future',
      ],
    )
    assert.equal(result.invalid_emails, null)
    const [fine, good] = await contactsOf(one)
    assert.equal(fine.consent_date.toISOString(), '2026-01-31T09:00:00.000Z')
    assert.equal(good.consent_date.toISOString(), '2026-01-31T00:00:00.000Z')
  })

  test('takes an entry that is no object for a faulty row', async () => {
    const one = await account()
    const result = await imported(one, { jsonBody: [{ email: 'a@example.com' }, 'str', 5, null, []] })
    assert.deepEqual(figures(result), { total: 5, created: 1, updated: 0, skipped: 0, faulty: 4 })
    assert.deepEqual(
      result.faultyRows.map(({ line, reason }: { line: number; reason: string }) => [line, reason]),
      [2, 3, 4, 5].map((line) => [line, 'is not an object']),
    )
  })

  test('names the columns that it did not keep, over all chunks and not without end', async () => {
    const one = await account()
    const rows = Array.from({ length: 2_001 }, (_, i) => ({ email: `a${i}@example.com`, attributes: {} }))
    const jsonBody = [
      { email: 'z@a.example', TOWN: 'Rome', AGE: 7, extId: 'z', attributes: { age: 1, town: 'Rome', '': 1 } },
      ...rows,
      { email: 'y@example.com', attributes: { ['x'.repeat(500)]: 1, TOWN: 1, STREET: 1 } },
    ]
    const { ignoredColumns } = await imported(one, { jsonBody })
    assert.deepEqual(ignoredColumns, ['TOWN', 'AGE', 'X'.repeat(80), 'STREET'])
    assert.deepEqual((await imported(one, { fileBody: 'EMAIL;AGE\nb@example.com;2' })).ignoredColumns, [])
    const many = Array.from({ length: 60 }, (_, i) => `C${i}`).join(';')
    const most = await imported(one, { fileBody: `EMAIL;${many}\nb@example.com${';1'.repeat(60)}` })
    assert.equal(most.ignoredColumns.length, 50)
  })

  test('tells of a hundred bad rows and counts the others', async () => {
    const one = await account()
    const result = await imported(one, { jsonBody: Array.from({ length: 250 }, () => ({ email: 'no' })) })
    assert.deepEqual([result.faulty, result.faultyRows.length], [250, 100])
    assert.deepEqual([result.faultyRows[0].line, result.faultyRows[99].line], [1, 100])
  })

  test('takes the later of two rows about the same contact', async () => {
    const one = await account()
    const fileBody = 'EMAIL;FIRSTNAME;AGE\na@example.com;First;1\nb@example.com;B;\nA@Example.com;Later;'
    const result = await imported(one, { fileBody })
    assert.deepEqual(figures(result), { total: 3, created: 2, updated: 1, skipped: 0, faulty: 0 })
    assert.deepEqual((await contactsOf(one))[0].attributes, { FIRSTNAME: 'Later', AGE: 1 })
  })

  test('knows contacts by their other identifiers', async () => {
    const one = await account()
    await imported(one, {
      jsonBody: [{ ext_id: 'x', attributes: { AGE: 1 } }, { attributes: { SMS: '0033611111111' } }],
    })
    const more = await imported(one, {
      fileBody: 'EXT_ID;EMAIL;AGE;SMS\nx;x@example.com;2;\n;;5;33611111111\nx;y@example.com;3;',
    })
    assert.deepEqual(figures(more), { total: 3, created: 0, updated: 2, skipped: 0, faulty: 1 })
    const all = await contactsOf(one)
    assert.deepEqual(
      all.map(({ email, sms, attributes }) => [email, sms, attributes.AGE]),
      [
        ['x@example.com', null, 2],
        [null, '33611111111', 5],
      ],
    )
  })

  test('records consent, once for each change, and which is in force', async () => {
    const one = await account()
    const file = (date: string, source: string) =>
      `EMAIL;CONSENT_DATE;CONSENT_SOURCE\na@example.com;${date};${source}`
    await imported(one, { fileBody: file('15/11/2025', 'shop') })
    await imported(one, { fileBody: file('2025-11-15', 'shop') })
    await imported(one, { fileBody: file('2020-01-01', 'fair') })
    await imported(one, {
      jsonBody: [{ email: 'a@example.com', consentDate: '2026-01-02', consentSource: 'site' }],
    })
    const ledger = await query(
      'select date, source, process_id from consents where account_id = $1 order by id',
      [one.accountId],
    )
    assert.deepEqual(
      ledger.map(({ source }) => source),
      ['shop', 'fair', 'site'],
    )
    assert.ok(ledger.every(({ process_id }) => Number(process_id) > 0))
    const [contact] = await contactsOf(one)
    assert.deepEqual(
      [contact.consent_date.toISOString(), contact.consent_source],
      ['2026-01-02T00:00:00.000Z', 'site'],
    )
  })

  test('does not put back who left, unless they consented since', async () => {
    const one = await account()
    const [list, other] = [await makeList(one), await makeList(one)]
    await imported(one, { fileBody: 'EMAIL\na@example.com\nb@example.com\nc@example.com' })
    await query(
      `insert into list_unsubscriptions (account_id, list_id, contact_id, at)
       select account_id, $2, id, '2026-06-01' from contacts where account_id = $1 and email < 'c'`,
      [one.accountId, list],
    )
    const result = await imported(one, {
      fileBody: 'EMAIL;CONSENT_DATE\na@example.com;01/05/2026\nb@example.com;2/6/2026\nc@example.com;',
      listIds: [list, other],
    })
    assert.equal(result.keptOut, 1)
    const all = await contactsOf(one)
    assert.deepEqual(
      all.map(({ lists }) => lists),
      [[other], [list, other], [list, other]],
    )
    const left = await query('select contact_id from list_unsubscriptions where account_id = $1', [
      one.accountId,
    ])
    assert.deepEqual(left, [{ contact_id: all[0].id }])
  })

  test('blacklists', async () => {
    const one = await account()
    await imported(one, { fileBody: 'EMAIL\na@example.com' })
    await imported(one, {
      fileBody: 'EMAIL\na@example.com\nb@example.com',
      emailBlacklist: true,
      smsBlacklist: true,
    })
    const all = await contactsOf(one)
    assert.ok(all.every(({ status, sms_blacklisted }) => status === 'unsubscribed' && sms_blacklisted))
    const rows = await query(
      'select email, reason, source from suppressions where account_id = $1 order by 1',
      [one.accountId],
    )
    assert.deepEqual(rows, [
      { email: 'a@example.com', reason: 'manual', source: 'import' },
      { email: 'b@example.com', reason: 'manual', source: 'import' },
    ])
    const [change] = await query('select attribute, new_value from contact_history where account_id = $1', [
      one.accountId,
    ])
    assert.deepEqual(change, { attribute: 'STATUS', new_value: 'unsubscribed' })
  })

  test('does not subscribe anew who left before', async () => {
    const one = await account()
    await imported(one, { fileBody: 'EMAIL\na@example.com', emailBlacklist: true })
    await query('delete from contacts where account_id = $1', [one.accountId])
    await imported(one, { fileBody: 'EMAIL\na@example.com\nb@example.com' })
    const statuses = (await contactsOf(one)).map(({ status }) => status)
    assert.deepEqual(statuses, ['unsubscribed', 'subscribed'])
  })

  test('makes a new list, in a folder if one is named', async () => {
    const one = await account()
    const [folder] = await query(
      `insert into folders (account_id, name, created_at) values ($1, 'F', now()) returning id`,
      [one.accountId],
    )
    const newList = { listName: 'Made', folderId: Number(folder.id) }
    await imported(one, { fileBody: 'EMAIL\na@example.com', newList })
    const [list] = await query('select id, name, folder_id from lists where account_id = $1', [one.accountId])
    assert.deepEqual([list.name, list.folder_id], ['Made', folder.id])
    assert.deepEqual((await contactsOf(one))[0].lists, [Number(list.id)])
  })
})
