import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { generateKeyPairSync, verify } from 'node:crypto'
import { describe, it } from 'node:test'
import { openSigners } from './sign-apart.ts'

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const other = generateKeyPairSync('rsa', { modulusLength: 2048 })
const ed = generateKeyPairSync('ed25519')

const isSigned = (data: string, signature: string, { publicKey } = rsa) =>
  verify('sha256', Buffer.from(data, 'latin1'), publicKey, Buffer.from(signature, 'base64'))

describe('signatures apart', () => {
  it('each belongs to its data and its key', async () => {
    const sign = openSigners()
    const asked = Array.from({ length: 100 }, (_, n) => ({
      data: `Größe ${n}\r\n`,
      pair: n % 3 ? rsa : other,
    }))
    const signatures = await Promise.all(asked.map(({ data, pair }) => sign(data, pair.privateKey)))
    for (const [n, { data, pair }] of asked.entries())
      assert.ok(isSigned(data, signatures[n] ?? '', pair), `number ${n}`)
  })

  it('a key that cannot sign fails its own signature alone', async () => {
    const sign = openSigners()
    const [bad, good] = await Promise.allSettled([sign('a', ed.privateKey), sign('b', rsa.privateKey)])
    assert.equal(bad?.status, 'rejected')
    assert.ok(good?.status === 'fulfilled' && isSigned('b', good.value))
  })

  const broken = {
    'dies with its work': `require('node:worker_threads').parentPort.on('message', () => process.exit(1))`,
    'cannot start': `throw new Error('no')`,
    // What cannot be the program of a thread is refused before there is one, like a thread too many.
    'cannot be made': 0 as unknown as string,
  }
  for (const [what, source] of Object.entries(broken))
    it(`is made all the same where a thread ${what}`, async () => {
      const sign = openSigners(source)
      const data = Array.from({ length: 40 }, (_, n) => `${n}`)
      const signatures = await Promise.all(data.map((one) => sign(one, rsa.privateKey)))
      for (const [n, one] of data.entries()) assert.ok(isSigned(one, signatures[n] ?? ''))
      assert.ok(isSigned('later', await sign('later', rsa.privateKey)))
    })

  it('the process waits for its signatures, and for nothing else', () => {
    const script = `
      import { generateKeyPairSync } from 'node:crypto'
      import { openSigners } from '${new URL('./sign-apart.ts', import.meta.url)}'
      const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
      openSigners()('x', privateKey).then((signature) => console.log(signature.length))`
    const args = ['--import', 'tsx', '--input-type=module', '-e', script]
    const { stdout, status } = spawnSync(process.execPath, args, { encoding: 'utf8', timeout: 30_000 })
    assert.deepEqual([stdout, status], ['344\n', 0])
  })
})
