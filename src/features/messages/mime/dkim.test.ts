import assert from 'node:assert/strict'
import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { dkimVerify } from 'mailauth/lib/dkim/verify.js'
import { relaxedBody } from './canonical.ts'
import { composeMail } from './compose.ts'
import { type DkimKey, signMail } from './dkim.ts'
import { field, headLines, mailWith } from './fixtures/mail.ts'

const at = new Date('2026-03-05T07:08:09.900Z')
const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const ed = generateKeyPairSync('ed25519')
const domain = 'sender.example'
const rsaKey: DkimKey = { domain, selector: 'r1', privateKey: rsa.privateKey, algorithm: 'rsa-sha256' }
const edKey: DkimKey = { domain, selector: 'e1', privateKey: ed.privateKey, algorithm: 'ed25519-sha256' }

const der = (key: KeyObject) => key.export({ type: 'spki', format: 'der' })
// RFC 8463 §4: the bare key, which is the end of the DER form.
const records: Record<string, string> = {
  'r1._domainkey.sender.example': `v=DKIM1; k=rsa; p=${der(rsa.publicKey).toString('base64')}`,
  'e1._domainkey.sender.example': `v=DKIM1; k=ed25519; p=${der(ed.publicKey).subarray(-32).toString('base64')}`,
}

async function resolver(name: string): Promise<string[][]> {
  const record = records[name]
  if (!record) throw Object.assign(new Error('none'), { code: 'ENOTFOUND' })
  return [[record]]
}

async function verdicts(raw: Buffer): Promise<(string | undefined)[]> {
  const { results } = await dkimVerify(raw, { resolver, curTime: at })
  return results.map(({ status, info }) => (status.result === 'pass' ? 'pass' : info))
}

const marketing = composeMail(
  mailWith({
    html: '<p>Viele Grüße  aus dem  schönen  Köln </p>\n\n',
    text: 'Viele Grüße aus dem schönen Köln \n\n\n',
    subject: 'Grüße 🎺 '.repeat(30),
    headers: [
      ['List-Unsubscribe', '<https://sender.example/u/t>'],
      ['List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'],
      ['List-Id', '<news.sender.example>'],
      ['Feedback-ID', 'c:marketing:acc:posthorn'],
      ['Auto-Submitted', 'auto-generated'],
      ['X-Spaced', 'a   b'],
    ],
  }),
)

const signedNames = (raw: Buffer) =>
  /\sh=([^;]+);/
    .exec(field(raw, 'DKIM-Signature') ?? '')?.[1]
    ?.replace(/\s/g, '')
    .toLowerCase()
    .split(':') ?? []

test('RSA, Ed25519 and both at once verify', async () => {
  assert.deepEqual(await verdicts(await signMail(marketing, [rsaKey], { at })), ['pass'])
  assert.deepEqual(await verdicts(await signMail(marketing, [edKey], { at })), ['pass'])
  assert.deepEqual(await verdicts(await signMail(marketing, [rsaKey, edKey], { at })), ['pass', 'pass'])
})

test('the signature stands in front, folded, and the message is untouched', async () => {
  const signed = await signMail(marketing, [rsaKey, edKey], { at })
  assert.ok(signed.subarray(-marketing.length).equals(marketing))
  const own = headLines(signed.subarray(0, signed.length - marketing.length + 4))
  assert.ok(own.every((line) => line.length <= 76))
  assert.match(own[0] ?? '', /^DKIM-Signature: v=1; a=rsa-sha256; c=relaxed\/relaxed;/)
  assert.match(field(signed, 'DKIM-Signature') ?? '', / t=1772694489; /)
  assert.ok(!/ l=/.test(signed.toString('latin1', 0, 1000)))
})

test('one-click unsubscribe is covered and From is listed twice', async () => {
  const names = signedNames(await signMail(marketing, [rsaKey], { at }))
  for (const name of [
    'list-unsubscribe',
    'list-unsubscribe-post',
    'list-id',
    'feedback-id',
    'auto-submitted',
  ])
    assert.ok(names.includes(name), name)
  for (const name of ['to', 'subject', 'date', 'message-id', 'mime-version', 'content-type'])
    assert.ok(names.includes(name), name)
  assert.equal(names.filter((name) => name === 'from').length, 2)
  assert.ok(!names.includes('cc') && !names.includes('x-spaced'))
})

test('fields that the upstream replaces are left out, From never', async () => {
  const signed = await signMail(marketing, [rsaKey], { at, unsigned: ['message-id', 'date', 'from'] })
  const names = signedNames(signed)
  assert.ok(!names.includes('message-id') && !names.includes('date') && names.includes('from'))
  const replaced = signed.toString('latin1').replace(/^(Message-ID|Date): .*$/gm, '$1: other')
  assert.deepEqual(await verdicts(Buffer.from(replaced, 'latin1')), ['pass'])
})

test('what was changed on the way is found out', async () => {
  const signed = (await signMail(marketing, [rsaKey], { at })).toString('latin1')
  const changes: [RegExp, string][] = [
    [/One-Click/, 'Two-Click'],
    [/^From: /m, 'From: x@evil.example\r\nFrom: '],
    [/=C3=B6ln/, '=C3=B6nig'],
    [/$/, 'more\r\n'],
  ]
  for (const [pattern, by] of changes) {
    const changed = signed.replace(pattern, by)
    assert.notEqual(changed, signed)
    assert.notDeepEqual(await verdicts(Buffer.from(changed, 'latin1')), ['pass'], String(pattern))
  }
})

test('white space and blank lines changed on the way do no harm', async () => {
  const raw = Buffer.from('From: a@sender.example\r\nSubject:  a  b \r\n\r\nx  y \r\n\r\nz\r\n')
  const signed = (await signMail(raw, [rsaKey, edKey], { at })).toString('latin1')
  const changed = signed.replace('x  y \r\n', 'x \t y\r\n').replace('  a  b ', ' a\r\n b')
  assert.deepEqual(await verdicts(Buffer.from(`${changed}\r\n\r\n`, 'latin1')), ['pass', 'pass'])
})

test('bodies at the edge verify', async () => {
  const bodies = [
    '',
    '\r\n',
    '\r\n\r\n',
    ' ',
    ' \r\n\t\r\n',
    'x',
    'x\r\n',
    'x\r\n\r\n\r\n',
    ' x',
    '\r\n x',
    'x \t',
    'x\r\n ',
  ]
  for (const body of bodies) {
    const raw = Buffer.from(`From: a@sender.example\r\nSubject: x\r\n\r\n${body}`)
    // SMTP ends the last line in any case.
    const ending = Buffer.from(/^$|\r\n$/.test(body) ? '' : '\r\n')
    assert.deepEqual(
      await verdicts(Buffer.concat([await signMail(raw, [rsaKey, edKey], { at }), ending])),
      ['pass', 'pass'],
      JSON.stringify(body),
    )
  }
})

test('the canonical body', () => {
  const canonical = (text: string) => relaxedBody(Buffer.from(text)).toString()
  assert.equal(canonical(''), '')
  assert.equal(canonical('\r\n\r\n'), '')
  assert.equal(canonical(' \t\r\n'), '')
  // The example of RFC 6376 §3.4.5.
  assert.equal(canonical(' C \r\nD \t E\r\n\r\n\r\n'), ' C\r\nD E\r\n')
  assert.equal(canonical('x'), 'x\r\n')
  const byTheBook = (text: string) => {
    const lines = text.replace(/[ \t]+/g, ' ').replace(/ (?=\r\n|$)/g, '')
    return lines.replace(/(\r\n)*$/, (end) => (end.length === lines.length ? '' : '\r\n'))
  }
  const pieces = fc.array(fc.constantFrom(' ', '\t', '\r\n', 'a', 'b', '='), { maxLength: 12 })
  fc.assert(
    fc.property(pieces, (some) => assert.equal(canonical(some.join('')), byTheBook(some.join('')))),
    { numRuns: 2_000 },
  )
})

test('a key of another kind, a malformed domain and a message without From are refused', async () => {
  const wrong: DkimKey = { ...rsaKey, algorithm: 'ed25519-sha256' }
  await assert.rejects(signMail(marketing, [wrong], { at }), /of the type rsa/)
  await assert.rejects(signMail(marketing, [{ ...rsaKey, domain: 'x;\r\ny' }], { at }), /malformed/)
  await assert.rejects(signMail(Buffer.from('To: a@b.example\r\n\r\nx'), [rsaKey], { at }), /without From/)
})
