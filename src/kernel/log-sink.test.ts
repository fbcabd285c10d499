import assert from 'node:assert/strict'
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { until } from '../../test/until.ts'
import { openSink } from './log-sink.ts'

const folder = mkdtempSync(join(tmpdir(), 'posthorn-log-'))
after(() => rmSync(folder, { recursive: true }))

test('every line arrives once and in order: bursts, single ones, and the last before the end', async () => {
  const file = join(folder, 'log')
  const sink = openSink(openSync(file, 'a'))
  const lines = Array.from({ length: 3_000 }, (_, n) => `line ${n} é\n`)
  for (const line of lines.slice(0, 2_000)) sink.write(line)
  const isThere = async () => readFileSync(file, 'utf8') === lines.slice(0, 2_000).join('')
  await until(isThere, 'the burst')
  for (const line of lines.slice(2_000)) sink.write(line)
  await until(async () => readFileSync(file, 'utf8').length > lines.slice(0, 2_000).join('').length, 'more')
  sink.write('the last\n')
  await until(async () => readFileSync(file, 'utf8').endsWith('the last\n'), 'a line alone')
  assert.equal(readFileSync(file, 'utf8'), `${lines.join('')}the last\n`)
  sink.write('at the end\n')
  sink.flushLast()
  assert.match(readFileSync(file, 'utf8'), /the last\nat the end\n$/)
})

test('a disk that is full does not hold up the end', () => {
  const file = join(folder, 'full')
  symlinkSync('/dev/full', file)
  const fd = openSync(file, 'w')
  const sink = openSink(fd)
  sink.write('a line\n')
  sink.flushLast()
  closeSync(fd)
})
