// The command as a user runs it, killed in the middle and called again.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { makeApp } from '../app.ts'
import { makePlace, run } from '../processes/posthorn.ts'
import { until } from '../until.ts'
import { contentsOf, makeProvider, openFront, people } from './provider.ts'

const program = fileURLToPath(new URL('../../bin/posthorn.js', import.meta.url))
const provider = await makeProvider()
const secrets = { POSTHORN_SECRET_KEY: '11'.repeat(32) }
const app = await makeApp({ env: { POSTHORN_RATE_LIMIT_FACTOR: '1000', ...secrets } })
const front = await openFront(provider.app.url)
const place = await makePlace({ DATABASE_URL: app.databaseUrl, ...secrets })
const args = ['import-brevo', '--key', provider.key, '--from', `${front.url}/v3`, '--account', app.accountId]

/** Runs it and kills it when the provider gets the request. */
async function killedAt(path: RegExp): Promise<void> {
  let isReached = false
  front.before = async (asked) => {
    if (!path.test(asked)) return undefined
    isReached = true
    await new Promise(() => undefined)
  }
  const child = spawn(process.execPath, [program, ...args], { env: place.env, stdio: 'ignore' })
  const ended = once(child, 'close')
  await until(async () => isReached, `a request for ${path}`, 30_000)
  child.kill('SIGKILL')
  await ended
  front.before = async () => undefined
}

test('a run that is killed is gone on with, and nothing is there twice', async () => {
  const dry = await run(place, ...args, '--dry-run', '--json')
  assert.equal(dry.code, 0, dry.err)
  assert.deepEqual(JSON.parse(dry.out).counts.contacts, { found: people, copied: 0, skipped: 0 })
  for (const path of [/contacts\/lists/, /contacts\?.*offset=500&/, /smtp\/templates/, /webhooks.*marketing/])
    await killedAt(path)
  const before = front.requests.length
  const { code, out, err } = await run(place, ...args, '--json')
  assert.equal(code, 0, err)
  const { counts, ids } = JSON.parse(out)
  assert.deepEqual(counts.contacts, { found: people, copied: people, skipped: 0 })
  assert.equal(Object.keys(ids.lists).length, 2)
  assert.match(err, /^templates: 2 of 2$/m)
  // The contacts were over: only the page behind the last is asked for.
  const asked = front.requests.slice(before).filter((path) => path.startsWith('/v3/contacts?'))
  assert.equal(asked.length, 1, asked.join())
  assert.deepEqual(await contentsOf(app, app.key), await contentsOf(provider.app, provider.key))
  const shown = await run(place, ...args)
  assert.match(shown.out, /^WHAT +FOUND +COPIED +LEFT OUT\n/)
})

test('what is wrong is said in one line', async () => {
  const unknown = await run(place, 'import-brevo', '--key', 'x', '--from', front.url)
  assert.deepEqual([unknown.code, unknown.out], [1, ''])
  assert.equal(unknown.err, 'posthorn: the provider refuses the key given with --key\n')
  const nowhere = await run(place, 'import-brevo', '--key', 'x', '--from', 'ftp://x')
  assert.deepEqual([nowhere.code, nowhere.err.includes('--from must be')], [2, true])
})
