import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { describe, it } from 'node:test'
import { openParsers } from './parse-apart.ts'

const head = 'From: a@example.com\r\nSubject: Hi\r\n'
const plain = (text: string, more = '') =>
  Buffer.from(`${head}Content-Type: text/plain${more}\r\n\r\n${text}`)

const endless: Record<string, Buffer> = {
  'a megabyte of blank lines': plain('\r\n'.repeat(500_000)),
  'flowed quotes': plain('> > > > x \r\n'.repeat(800_000), '; format=flowed; delsp=yes'),
  'mail in mail in mail': Buffer.from(head + 'Content-Type: message/rfc822\r\n\r\n'.repeat(20_000)),
}

describe('mail read apart', () => {
  it('each is read, also where many come at once', async () => {
    const parse = openParsers()
    const mails = await Promise.all(Array.from({ length: 20 }, (_, n) => parse(plain(`text ${n}\r\n`))))
    assert.deepEqual(
      mails.map((mail) => mail?.text?.trim()),
      Array.from({ length: 20 }, (_, n) => `text ${n}`),
    )
  })

  it('what Windows writes is read as it was meant', async () => {
    const body = 'L\x92\x9cuvre co\xfbte 5 \x80\r\n'
    for (const charset of ['windows-1252', 'iso-8859-1']) {
      const lines = [`Content-Type: text/plain; charset=${charset}`, 'Content-Transfer-Encoding: 8bit', '']
      const raw = [`Subject: =?${charset}?Q?d=92=9Cuvre?=`, ...lines, body].join('\r\n')
      const mail = await openParsers()(Buffer.from(raw, 'latin1'))
      assert.deepEqual([mail?.subject, mail?.text?.trim()], ['d’œuvre', 'L’œuvre coûte 5 €'])
    }
  })

  for (const [what, raw] of Object.entries(endless))
    it(`${what} are given up in time, and the next mail is read`, { timeout: 60_000 }, async () => {
      const parse = openParsers({ limitMs: 1_000 })
      const [late, next, last] = await Promise.all([parse(raw), parse(plain('a')), parse(plain('b'))])
      assert.deepEqual([late, next?.subject, last?.subject], [undefined, 'Hi', 'Hi'])
      assert.equal((await parse(plain('c')))?.subject, 'Hi')
    })

  it('the process waits for its mail, and for nothing else', () => {
    const script = `
      import { openParsers } from '${new URL('./parse-apart.ts', import.meta.url)}'
      openParsers()(Buffer.from('Subject: Hi\\r\\n\\r\\n')).then((mail) => console.log(mail.subject))`
    const args = ['--import', 'tsx', '--input-type=module', '-e', script]
    const { stdout, status } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 60_000 })
    assert.deepEqual([stdout, status], ['Hi\n', 0])
  })
})
