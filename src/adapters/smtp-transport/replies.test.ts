import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { saidBy } from './outcome.ts'
import { openReplyReader, type Reply } from './replies.ts'

const readAll = (chunks: Buffer[]) => {
  const reader = openReplyReader()
  const replies: Reply[] = []
  for (const chunk of chunks) {
    reader.push(chunk)
    for (let next = reader.next(); next; next = reader.next()) {
      assert.ok('code' in next)
      replies.push(next)
    }
  }
  return replies
}

test('replies are the same however the bytes are cut', () => {
  const text = Buffer.from(
    '220 hi\r\n250-one\r\n250-two\r\n250 three\r\n354\r\n550 5.1.1 no\n421 4.3.2 bye\r\n',
  )
  const whole = readAll([text])
  assert.deepEqual(
    whole.map(({ code, lines }) => [code, lines.join('|')]),
    [
      [220, 'hi'],
      [250, 'one|two|three'],
      [354, ''],
      [550, '5.1.1 no'],
      [421, '4.3.2 bye'],
    ],
  )
  fc.assert(
    fc.property(fc.array(fc.nat(text.length)), (places) => {
      const cuts = [0, ...places.sort((a, b) => a - b), text.length]
      const chunks = cuts.map((from, at) => text.subarray(from, cuts[at + 1] ?? text.length))
      assert.deepEqual(readAll(chunks), whole)
    }),
  )
})

test('what a server says is fit for a log: other alphabets whole, control characters gone', () => {
  const [reply] = readAll([
    Buffer.from('550-5.7.1 Zugang verwehrt: für\x00immer\r\n550 5.7.1 \x1b[31mrot\r\n'),
  ])
  assert.ok(reply)
  assert.deepEqual(saidBy(reply, 'no: '), {
    smtpCode: 550,
    enhancedCode: '5.7.1',
    message: 'no: Zugang verwehrt: für immer [31mrot',
  })
  const [bare] = readAll([Buffer.from('452 \r\n')])
  assert.deepEqual(bare && saidBy(bare), { smtpCode: 452, enhancedCode: null, message: '452' })
})
