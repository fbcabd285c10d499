import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { contactLine, headingOf } from '../export/csv.ts'
import { readCsv, separatorOf } from './csv.ts'
import { decodeFile } from './decode.ts'
import { rowsOfCsv, rowsOfJson } from './given-rows.ts'

const cells = (text: string) => [...readCsv(text)].map((record) => record.cells)
const lines = (text: string) => [...readCsv(text)].map(({ line }) => line)

describe('CSV', () => {
  test('has the separator of its heading, outside quotes', () => {
    assert.equal(separatorOf('EMAIL;A\n1,2,3'), ';')
    assert.equal(separatorOf('EMAIL,A\n1;2;3'), ',')
    assert.equal(separatorOf('"A,B,C";EMAIL'), ';')
    assert.equal(separatorOf('EMAIL'), ';')
    assert.deepEqual(cells('\n\nEMAIL,A\nb,c'), [
      ['EMAIL', 'A'],
      ['b', 'c'],
    ])
  })

  test('may quote separators, quotes and line breaks', () => {
    const text = 'a;b;c\r\n"x;y";"say ""hi""";"two\r\nlines"\r\nlast;"";""""\r\n'
    assert.deepEqual(cells(text), [
      ['a', 'b', 'c'],
      ['x;y', 'say "hi"', 'two\r\nlines'],
      ['last', '', '"'],
    ])
    assert.deepEqual(lines(text), [1, 2, 4])
  })

  test('ends its lines in any of the three ways, with or without the last one; blank ones do not count', () => {
    for (const end of ['\n', '\r\n', '\r']) {
      const text = ['a;b', '1;2', '', ' ; ', '3;4'].join(end)
      for (const whole of [text, text + end]) {
        assert.deepEqual(cells(whole), [
          ['a', 'b'],
          ['1', '2'],
          ['3', '4'],
        ])
        assert.deepEqual(lines(whole), [1, 2, 5])
      }
    }
  })

  test('keeps what is written oddly', () => {
    assert.deepEqual(cells('\uFEFFa;b\n5" nail;"x" y \n;z;'), [
      ['a', 'b'],
      ['5" nail', 'x y'],
      ['', 'z', ''],
    ])
    assert.deepEqual(cells(''), [])
    assert.throws(() => cells('a\n1\n"never closed\n\n'), /line 3/)
  })
})

describe('files', () => {
  const text = 'EMAIL;NAME\nz@example.com;Zoé Œuvre'
  const utf16be = Buffer.from(`\uFEFF${text}`, 'utf16le').swap16()
  const files: [string, Buffer, string][] = [
    ['UTF-8', Buffer.from(text), 'text/csv'],
    ['UTF-8 with its mark', Buffer.from(`\uFEFF${text}`), 'text/csv; charset=windows-1252'],
    ['UTF-16', Buffer.from(`\uFEFF${text}`, 'utf16le'), ''],
    ['UTF-16, the other way', utf16be, ''],
    ['Windows', Buffer.from(text.replace('é', '\xe9').replace('Œ', '\x8c'), 'latin1'), 'text/csv'],
    [
      'declared',
      Buffer.from(text.replace('é', '\xe9').replace('Œ', '\xbc'), 'latin1'),
      'x;charset="iso-8859-15"',
    ],
    ['declared wrongly', Buffer.from(text), 'text/csv; charset=nonsense'],
  ]
  for (const [name, body, contentType] of files) {
    test(`in ${name} are read`, () => {
      assert.equal(decodeFile({ body, contentType }).replace('\uFEFF', ''), text)
    })
  }
})

describe('rows', () => {
  test('have their fields by name in any case', () => {
    const [row] = [
      ...rowsOfCsv('Email;firstname;Ext_Id;sms;consent_date;CONSENT_SOURCE;\na@b.co;Ann;x;336;1/2/2026;s;'),
    ]
    assert.deepEqual(row, {
      line: 2,
      email: 'a@b.co',
      extId: 'x',
      sms: '336',
      consentDate: '1/2/2026',
      consentSource: 's',
      attributes: { FIRSTNAME: 'Ann' },
    })
  })

  test('of an export have the values that were exported', () => {
    const texts = ['=1', '+1', '-Oslo', '@x', '\tx', '\rx', "'-x", "''=x", "'x", "it's - so"]
    const columns = texts.map((_, i) => `C${i}`)
    const attributes = Object.fromEntries(columns.map((name, i) => [name, texts[i]]))
    const file = `EMAIL;${headingOf(columns)}a@b.co;${contactLine(columns, { attributes } as never)}`
    const [row] = [...rowsOfCsv(file)]
    assert.deepEqual(row?.attributes, attributes)
  })

  test('need a heading that names whom they are about', () => {
    for (const text of [' \n ', 'NAME\nx', 'EMAIL;A;a\nx'])
      assert.throws(() => [...rowsOfCsv(text)], { code: 'invalid_parameter' })
    assert.throws(() => [...rowsOfCsv('EMAIL;CONSENT_IP\na@b.co;1')], /POST \/v3\/contacts or PUT/)
    assert.throws(() => [...rowsOfJson([{ email: 'a', consent_text: 'x' }])], /POST \/v3\/contacts or PUT/)
  })

  test('of JSON may hold anything', () => {
    const hostile = [
      5,
      null,
      [],
      { attributes: 5 },
      { email: {}, attributes: { __proto__: 1, a: '\0\uD800' } },
    ]
    const rows = [...rowsOfJson(hostile)]
    assert.deepEqual(
      rows.map(({ line, fault }) => [line, fault !== undefined]),
      [
        [1, true],
        [2, true],
        [3, true],
        [4, true],
        [5, false],
      ],
    )
    assert.deepEqual(rows[4]?.attributes.A, '\uFFFD')
  })
})
