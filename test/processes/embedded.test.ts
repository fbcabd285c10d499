// The commands on the embedded database: alone, and beside the service that owns it.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { test } from 'node:test'
import {
  begin,
  eventually,
  keyIn,
  linesOf,
  makePlace,
  run,
  type Service,
  serverPid,
  start,
} from './posthorn.ts'

const place = await makePlace({ POSTHORN_LOG_LEVEL: 'silent' })
const asJson = async (...args: string[]) => {
  const { code, out, err } = await run(place, ...args, '--json')
  assert.deepEqual([code, err], [0, ''], args.join(' '))
  return JSON.parse(out)
}

let service: Service
let rival: Service
let first = ''

test('what needs a Posthorn makes none in an empty folder, nor the folder itself', async () => {
  const dataDir = `${place.dataDir}/nothing-here`
  const empty = { env: { ...place.env, POSTHORN_DATA_DIR: dataDir } }
  const calls = [
    'key list',
    'account list',
    'key create',
    'key revoke x',
    'account quota 1 5',
    `backup ${dataDir}.gz`,
  ]
  for (const call of calls) {
    const { code, out, err } = await run(empty, ...call.split(' '))
    assert.deepEqual([code, out], [1, ''], call)
    assert.match(err, /^posthorn: there is no Posthorn in [^\n]*nothing-here; [^\n]*\n$/)
  }
  for (const [call, says] of [
    [
      'backup /nonexist/b.tar.gz',
      /^posthorn: \/nonexist\/b\.tar\.gz cannot be written: there is no folder \/nonexist/,
    ],
    ['restore --force /nope', /^posthorn: \/nope cannot be read: there is no such file\n$/],
  ] as const) {
    const { code, out, err } = await run(empty, ...call.split(' '))
    assert.deepEqual([code, out], [1, ''], call)
    assert.match(err, says)
  }
  assert.equal(existsSync(dataDir), false)
  const looked = await run(empty, 'doctor')
  assert.match(
    looked.out,
    /^warn {2}database +there is no Posthorn in .*nothing-here yet\n +→ start it once/m,
  )
  assert.equal(existsSync(`${dataDir}/postgres`), false)
})

test('alone, a command starts the database for its own time and leaves none behind', async () => {
  const { account, key } = await asJson('account', 'create', 'shop')
  assert.match(key, /^phk_live_/)
  assert.equal(await serverPid(place.dataDir), undefined)
  first = key
  assert.equal(account, '1')
  const report = await asJson('doctor')
  assert.match(JSON.stringify(report.checks), /embedded, PostgreSQL \d+/)
  assert.equal(await serverPid(place.dataDir), undefined)
})

test('an account made before the first start is the first account, and its key works', async () => {
  service = await start(place)
  // Waits some seconds for the folder to become free; what it is told is seen further down.
  rival = begin({ ...place, env: { ...place.env, POSTHORN_PORT: '0' } })
  assert.equal(keyIn(service.out()), '')
  assert.equal((await service.call('GET', '/api/v1/usage', { key: first })).status, 200)
})

test('beside the service, a command uses its database and leaves it running', async () => {
  const pid = await serverPid(place.dataDir)
  const { key } = await asJson('key', 'create', '--name', 'beside')
  assert.equal((await service.call('GET', '/api/v1/usage', { key })).body.key.name, 'beside')
  const { prefix } = (await asJson('key', 'list')).find(({ name }: { name: string }) => name === 'beside')
  await asJson('key', 'revoke', prefix)
  await eventually(async () => (await service.call('GET', '/api/v1/usage', { key })).status === 401)
  assert.deepEqual((await asJson('migrate')).applied, [])
  assert.equal(await serverPid(place.dataDir), pid)
  assert.equal((await service.call('GET', '/readyz')).status, 200)
})

test('a second service on the same folder is refused in one line that names the process', async () => {
  const { code } = await rival.ended
  assert.deepEqual([code, rival.out(), linesOf(rival.err()).length], [1, '', 1], rival.err())
  assert.ok(rival.err().startsWith('posthorn: '))
  assert.ok(rival.err().includes(`process ${service.pid}`), rival.err())
  assert.equal((await service.call('GET', '/readyz')).status, 200)
})

test('the service stops cleanly after all that', async () => {
  assert.deepEqual(await service.end('SIGTERM'), { code: 0, signal: null })
  assert.equal(await serverPid(place.dataDir), undefined)
})
