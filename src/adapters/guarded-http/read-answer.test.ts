import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import fc from 'fast-check'
import { type Answer, answerReader } from './read-answer.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

function heapUsed(): number {
  collect()
  return process.memoryUsage().heapUsed
}

const head = 'HTTP/1.1 200 OK\r\n'

type Read = { answer: Answer; isComplete: boolean; mayFollow: boolean }

/** Reads it in pieces that end at these places. */
function read(text: string, cuts: number[] = []): Read {
  const reader = answerReader({ onHead: () => {}, onBody: () => {} })
  const places = [...new Set(cuts.map((cut) => cut % text.length))].sort((a, b) => a - b)
  const pieces = [0, ...places].map((from, i) => Buffer.from(text.slice(from, places[i]), 'latin1'))
  const isComplete = pieces.reduce((done, piece) => done || reader.read(piece), false)
  return { answer: reader.answer, isComplete: isComplete || reader.end(), mayFollow: reader.mayFollow() }
}

const whole = {
  'a length': ['HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello', 'hello', true],
  'a length of nothing': ['HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n', '', true],
  'no reason and no headers but one': ['HTTP/1.1 200\r\ncontent-length:0\r\n\r\n', '', true],
  'no body by its status': ['HTTP/1.1 204 No Content\r\nx: y\r\n\r\n', '', true],
  chunks: [
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n5\r\nhello\r\n6;a=b\r\n world\r\n0\r\n\r\n',
    'hello world',
    true,
  ],
  'chunks with line breaks in them and a trailer': [
    'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n00A\r\n0\r\n\r\n\r\n\r\nx\r\n0\r\nx-sum: 1\r\n\r\n',
    '0\r\n\r\n\r\n\r\nx',
    true,
  ],
  'the end of the connection': ['HTTP/1.1 200 OK\r\n\r\nhello', 'hello', false],
  'a word that it closes': [
    'HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 2\r\n\r\nok',
    'ok',
    false,
  ],
  'an old version': ['HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok', 'ok', false],
  'an old version that stays': [
    'HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok',
    'ok',
    true,
  ],
  'answers before it': [
    [
      'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n',
      'HTTP/1.1 201 Created\r\nContent-Length: 2\r\n\r\nok',
    ].join(''),
    'ok',
    true,
  ],
} as const

for (const [name, [text, body, mayFollow]] of Object.entries(whole))
  test(`an answer with ${name} is the same however it is cut`, () => {
    fc.assert(
      fc.property(fc.array(fc.nat(1000), { maxLength: 8 }), (cuts) => {
        const found = read(text, cuts)
        assert.equal(found.answer.body.toString(), body)
        assert.deepEqual([found.isComplete, found.mayFollow], [true, mayFollow])
      }),
    )
  })

test('no beginning of an answer is a whole one', () => {
  for (const [text] of Object.values(whole)) {
    // Without a length, whatever came before the end is all of it.
    const isSized = /length|chunked|204/i.test(text)
    const end = isSized ? text.length : text.indexOf('\r\n\r\n') + 4
    for (let length = 1; length < end; length++)
      assert.equal(read(text.slice(0, length)).isComplete, false, text.slice(0, length))
  }
})

test('a body in small chunks takes the room of its bytes and not of its chunks', () => {
  const [chunk, count] = ['10\r\n0123456789abcdef\r\n', 50_000]
  const reader = answerReader({ onHead: () => {}, onBody: () => {} })
  reader.read(Buffer.from(`${head}Transfer-Encoding: chunked\r\n\r\n`))
  const before = heapUsed()
  for (let i = 0; i < count; i += 1000) reader.read(Buffer.from(chunk.repeat(1000)))
  assert.ok(heapUsed() - before < 10 * count)
  assert.equal(reader.read(Buffer.from('0\r\n\r\n')), true)
  const { body } = reader.answer
  assert.equal(body.toString(), '0123456789abcdef'.repeat(count))
  assert.equal(body.buffer.byteLength, body.length)
})

test('headers of one name are joined, and none of them reaches a prototype', () => {
  const { headers } = read(
    'HTTP/1.1 200 OK\r\nX-Two: a\r\nx-two:\tb \r\n__proto__: c\r\nContent-Length: 0\r\n\r\n',
  ).answer
  assert.deepEqual(Object.entries(headers), [
    ['x-two', 'a, b'],
    ['__proto__', 'c'],
    ['content-length', '0'],
  ])
})

test('answers with the same head have bodies of their own, and nobody changes the headers of another', () => {
  const [first, second] = ['one', 'two'].map((body) => read(`${head}Content-Length: 3\r\n\r\n${body}`).answer)
  assert.deepEqual([first?.body.toString(), second?.body.toString()], ['one', 'two'])
  assert.throws(() => Object.assign(first?.headers ?? {}, { 'content-length': '9' }), TypeError)
  assert.equal(second?.headers['content-length'], '3')
})

test('of heads that all differ few are kept', () => {
  const before = heapUsed()
  for (let n = 0; n < 5_000; n++)
    read(`${head}X-Request: ${n}${'x'.repeat(1_000)}\r\nContent-Length: 0\r\n\r\n`)
  assert.ok(heapUsed() - before < 1_000_000)
})

test('what comes behind an answer is not taken for the next', () => {
  const found = read('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\n')
  assert.deepEqual([found.isComplete, found.mayFollow, found.answer.body.toString()], [true, false, 'ok'])
})

const refused = {
  'another protocol': '220 mail.example ESMTP\r\n\r\n',
  'another version': 'HTTP/2.0 200 OK\r\n\r\n',
  'a status of two digits': 'HTTP/1.1 20 OK\r\n\r\n',
  'a change of protocol': 'HTTP/1.1 101 Switching Protocols\r\n\r\n',
  'two lengths': `${head}Content-Length: 2\r\nContent-Length: 3\r\n\r\nok`,
  'a length and chunks': `${head}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
  'a negative length': `${head}Content-Length: -2\r\n\r\n`,
  'a length in letters': `${head}Content-Length: 0x2\r\n\r\n`,
  'another coding': `${head}Transfer-Encoding: gzip, chunked\r\n\r\n`,
  'a line break without its half': `${head}a: b\nTransfer-Encoding: chunked\r\n\r\n`,
  'the other half alone': `${head}a: b\rTransfer-Encoding: chunked\r\n\r\n`,
  'a folded header': `${head}a: b\r\n c\r\n\r\n`,
  'a space before the colon': `${head}Content-Length : 2\r\n\r\nok`,
  'a header without a name': `${head}: 2\r\n\r\nok`,
  'a chunk without a size': `${head}Transfer-Encoding: chunked\r\n\r\n\r\n`,
  'a chunk of a negative size': `${head}Transfer-Encoding: chunked\r\n\r\n-1\r\n`,
  'a chunk of more than was announced': `${head}Transfer-Encoding: chunked\r\n\r\n2\r\nokay\r\n`,
  'a size without end': `${head}Transfer-Encoding: chunked\r\n\r\n${'0'.repeat(2000)}`,
  'a head without end': head + 'a: b\r\n'.repeat(5000),
  'a body in chunks of one byte': `${head}Transfer-Encoding: chunked\r\n\r\n${'1\r\nx\r\n'.repeat(20_000)}`,
  'a trailer without end': `${head}Transfer-Encoding: chunked\r\n\r\n0\r\n${'a: b\r\n'.repeat(5000)}`,
  'answers before it without end': 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(20),
}

for (const [name, text] of Object.entries(refused))
  test(`${name} is refused`, () => {
    assert.throws(() => read(text), /cannot be read as HTTP/)
    fc.assert(
      fc.property(fc.array(fc.nat(text.length - 1), { maxLength: 4 }), (cuts) => {
        assert.throws(() => read(text, cuts), /cannot be read as HTTP/)
      }),
      { numRuns: 30 },
    )
  })

test('whatever comes is an answer, a part of one, or refused', () => {
  const words = ['HTTP/1.1 ', '200', ' OK', '\r\n', '\r', '\n', ':', 'content-length', 'transfer-encoding']
  const more = ['chunked', '0', '5', 'ffffffff', ';', ' ', 'close', 'connection', '\0', 'é']
  fc.assert(
    fc.property(fc.array(fc.constantFrom(...words, ...more), { minLength: 1, maxLength: 40 }), (parts) => {
      const outcome = (cuts: number[]) => {
        try {
          const { isComplete, answer } = read(parts.join(''), cuts)
          return isComplete ? { status: answer.status, body: answer.body.toString() } : 'a part'
        } catch (error) {
          assert.match(String(error), /cannot be read as HTTP/)
          return 'refused'
        }
      }
      const atOnce = outcome([])
      const byteByByte = outcome(Array.from({ length: parts.join('').length }, (_, i) => i))
      assert.deepEqual(byteByByte, atOnce)
    }),
    { numRuns: 500 },
  )
})
