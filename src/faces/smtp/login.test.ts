import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import type { Kind } from '../../kernel/refusal.ts'
import { base64, openFor, plain, refuse, talkTo } from './fixtures/testing.ts'
import type { RelayOptions } from './relay.ts'

const open = async (t: TestContext, changes: Partial<RelayOptions<{ user: string }>> = {}) => {
  const relay = await openFor(t, changes)
  const talk = await talkTo(t, relay.port)
  await talk.reply()
  await talk.ask('EHLO c')
  return { ...relay, ...talk }
}

test('PLAIN works with the credentials in the first line or the second', async (t) => {
  const first = await open(t)
  assert.equal(await first.ask(`auth plain ${plain('apikey', 'secret')}`), '235 2.7.0 Authenticated')
  const second = await open(t)
  assert.equal(await second.ask('AUTH PLAIN'), '334 ')
  assert.equal(await second.ask(plain('apikey', 'secret')), '235 2.7.0 Authenticated')
})

test('LOGIN works with the name in the first line or asked for', async (t) => {
  const first = await open(t)
  assert.equal(await first.ask(`AUTH LOGIN ${base64('apikey')}`), '334 UGFzc3dvcmQ6')
  assert.equal(await first.ask(base64('secret')), '235 2.7.0 Authenticated')
  const second = await open(t)
  assert.equal(await second.ask('AUTH LOGIN'), '334 VXNlcm5hbWU6')
  assert.equal(await second.ask(base64('apik\u00e9y')), '334 UGFzc3dvcmQ6')
  assert.equal(await second.ask(base64('secret')), '235 2.7.0 Authenticated')
  assert.equal(second.logins[0]?.user, 'apik\u00e9y')
})

test('a very long password still fits', async (t) => {
  const { ask, logins } = await open(t)
  const password = 'p'.repeat(9_000)
  assert.match((await ask(`AUTH PLAIN ${plain('apikey', password)}`)) ?? '', /^535 5\.7\.8/)
  assert.equal(await ask('AUTH PLAIN'), '334 ')
  assert.match((await ask(plain('apikey', password))) ?? '', /^535 5\.7\.8/)
  assert.equal(logins.length, 2)
  assert.match((await ask(`AUTH PLAIN ${plain('apikey', 'p'.repeat(9_400))}`)) ?? '', /^500 5\.5\.2/)
})

test('an identity to act for must be the user', async (t) => {
  const { ask } = await open(t)
  assert.match((await ask(`AUTH PLAIN ${base64('boss\0apikey\0secret')}`)) ?? '', /^535 5\.7\.8/)
  assert.match((await ask(`AUTH PLAIN ${base64('apikey\0apikey\0secret')}`)) ?? '', /^235 /)
})

const malformed: [string, string, RegExp][] = [
  ['cancelled', '*', /^501 5\.7\.0/],
  ['not base64', 'AAAA!', /^501 5\.5\.2/],
  ['badly padded', 'AAAAA', /^501 5\.5\.2/],
  ['without separators', base64('apikey secret'), /^501 5\.5\.2/],
  ['with a part too many', base64('\0apikey\0secret\0'), /^501 5\.5\.2/],
  ['with a line end inside', base64('\0apikey\0secret\n'), /^501 5\.5\.2/],
  ['not UTF-8', Buffer.from([0, 0xff, 0, 0xff]).toString('base64'), /^501 5\.5\.2/],
  ['empty', '=', /^501 5\.5\.2/],
]

for (const [name, line, expected] of malformed)
  test(`an exchange that is ${name} is answered with ${expected.source}`, async (t) => {
    const { ask, logins } = await open(t)
    await ask('AUTH PLAIN')
    assert.match((await ask(line)) ?? '', expected)
    assert.match((await ask('NOOP')) ?? '', /^250 /)
    assert.deepEqual(logins, [])
  })

test('an unknown mechanism is refused', async (t) => {
  const { ask } = await open(t)
  for (const line of ['AUTH', 'AUTH CRAM-MD5', 'AUTH XOAUTH2 abcd', 'AUTH PLAIN a b'])
    assert.match((await ask(line)) ?? '', /^504 5\.5\.4/)
})

test('the third wrong password ends the connection', async (t) => {
  const { ask, reply, closed, logins } = await open(t)
  for (let count = 0; count < 3; count += 1)
    assert.equal(await ask(`AUTH PLAIN ${plain('apikey', 'wrong')}`), '535 5.7.8 The key is unknown.')
  assert.match((await reply()) ?? '', /^421 4\.7\.0/)
  await closed
  assert.equal(logins.length, 3)
})

test('every failure takes the same time', async (t) => {
  const times = await Promise.all(
    [undefined, refuse('forbidden'), refuse('unavailable'), new Error('bug')].map(async (error) => {
      const { ask } = await open(t, error && { login: () => Promise.reject(error) })
      const start = performance.now()
      await ask(`AUTH PLAIN ${plain('apikey', 'wrong')}`)
      return performance.now() - start
    }),
  )
  assert.ok(Math.min(...times) >= 295, `too fast: ${times}`)
})

const kinds: [Kind, string][] = [
  ['unauthenticated', '535 5.7.8'],
  ['forbidden', '535 5.7.8'],
  ['invalid', '535 5.7.8'],
  ['refused', '535 5.7.8'],
  ['limited', '421 4.7.0'],
  ['unavailable', '451 4.3.0'],
  ['internal', '451 4.3.0'],
]

for (const [kind, codes] of kinds)
  test(`a login that is ${kind} is answered with ${codes}`, async (t) => {
    const { ask, closed } = await open(t, { login: () => Promise.reject(refuse(kind)) })
    assert.equal(await ask(`AUTH PLAIN ${plain('apikey', 'secret')}`), `${codes} No: ${kind}.`)
    if (kind === 'limited') await closed
    else assert.match((await ask('MAIL FROM:<a@sender.test>')) ?? '', /^530 5\.7\.0/)
  })

test('a login that throws instead of rejecting is a failure like any other', async (t) => {
  const { ask } = await open(t, {
    login: () => {
      throw new Error('secret detail')
    },
  })
  assert.match((await ask(`AUTH PLAIN ${plain('apikey', 'secret')}`)) ?? '', /^451 4\.3\.0 Something went/)
})
