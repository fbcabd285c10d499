import assert from 'node:assert/strict'
import { test } from 'node:test'
import { progressOn } from './progress.ts'

function shown(isTTY: boolean): string {
  let text = ''
  const progress = progressOn({
    isTTY,
    write: (more) => {
      text += more
    },
  })
  progress.onProgress('contacts', 50, 100)
  progress.note('contact a is left out:\nwrong')
  progress.onProgress('contacts', 100, 100)
  progress.end()
  return text
}

test('on a terminal a bar fills, and is gone at the end', () => {
  const [half, full] = [`${'█'.repeat(15)}${'░'.repeat(15)}`, '█'.repeat(30)]
  const clear = '\r\x1b[K'
  const lines = [
    `${clear}${half} contacts 50 of 100`,
    `${clear}contact a is left out: wrong\n`,
    `${clear}${full} contacts 100 of 100`,
    clear,
  ]
  assert.equal(shown(true), lines.join(''))
})

test('elsewhere there are lines', () => {
  const lines = ['contacts: 50 of 100', 'contact a is left out: wrong', 'contacts: 100 of 100', '']
  assert.equal(shown(false), lines.join('\n'))
})
