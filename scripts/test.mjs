// Runs the tests on a PostgreSQL of their own: npm test [-- FILE…]
// Each test file copies one migrated template database, so files neither meet nor wait for migrations.
import { spawn, spawnSync } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { register } from 'tsx/esm/api'
import { buildTests } from './build-tests.mjs'
import { ensurePrograms } from './programs.mjs'

process.chdir(fileURLToPath(new URL('..', import.meta.url)))
register()

const { openEmbeddedPostgres } = await import('../src/adapters/embedded-postgres/embedded-postgres.ts')
const { migrate } = await import('../src/main/migrate.ts')

ensurePrograms()

const files = process.argv.slice(2).length > 0 ? process.argv.slice(2) : ['src', 'test'].flatMap(testsBelow)
const dataDir = await mkdtemp(join(tmpdir(), 'posthorn-test-'))
let server
let built
let runner
let isStopped = false
// Stopped from outside, the tests end and the server with them.
for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => {
    isStopped = true
    runner?.kill('SIGTERM')
  })
try {
  server = await openEmbeddedPostgres({ dataDir, mode: 'service' })
  await migrate(server.url)
  const env = { ...process.env, POSTHORN_TEST_SERVER: server.url }
  // What looks at a clock has the machine for itself.
  const isAlone = (file) => file.endsWith('.alone.test.ts')
  // The built command is what some tests start.
  spawnSync(process.execPath, ['scripts/build.mjs'], { stdio: 'inherit' })
  built = await buildTests(files)
  const shared = await run(
    files.filter((file) => !isAlone(file)),
    env,
    3,
  )
  const alone = await run(files.filter(isAlone), env, 1)
  process.exitCode = shared || alone
} finally {
  await server?.stop()
  if (built) await rm(built, { recursive: true, force: true })
  await rm(dataDir, { recursive: true, force: true })
}

function testsBelow(folder) {
  return readdirSync(folder, { recursive: true })
    .filter((name) => name.endsWith('.test.ts') && !name.endsWith('.long.test.ts'))
    .map((name) => join(folder, name))
    .sort()
}

/** The exit code of the test runner; under CI a skipped test fails the run too. */
function run(testFiles, env, concurrency) {
  if (testFiles.length === 0 || isStopped) return isStopped ? 1 : 0
  const reporting = ['--test-reporter=spec', `--test-concurrency=${concurrency}`]
  // A file that hangs is ended and named; without this the whole run hangs and says nothing.
  const args = ['--enable-source-maps', '--test', `--test-timeout=${30 * 60_000}`, ...reporting]
  args.push(...testFiles.map((file) => join(built, file.replace(/\.ts$/, '.js'))))
  runner = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
  let tail = ''
  runner.stdout.on('data', (chunk) => {
    process.stdout.write(chunk)
    tail = (tail + chunk).slice(-4_000)
  })
  return new Promise((resolve) => {
    runner.on('close', (code) => {
      const skipped = Number(/skipped (\d+)/.exec(tail)?.[1] ?? 0)
      if (skipped > 0 && process.env.CI)
        process.stderr.write(`${skipped} tests were skipped, which CI does not allow\n`)
      resolve(code || (skipped > 0 && process.env.CI ? 1 : 0))
    })
  })
}
