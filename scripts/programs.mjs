// Programs that tests need and npm cannot bring. On Debian as root they are installed here; elsewhere the tests
// that need them are skipped, and this says what installs them.
import { spawnSync } from 'node:child_process'

const programs = [{ command: 'chromium', package: 'chromium' }]

export function ensurePrograms() {
  const missing = programs.filter(({ command }) => !isThere(command))
  if (missing.length === 0) return
  const names = missing.map((program) => program.package)
  if (process.getuid?.() === 0 && isThere('apt-get')) {
    install(names)
    return
  }
  process.stdout.write(`Some tests are skipped; to run them: sudo apt-get install -y ${names.join(' ')}\n`)
}

function isThere(command) {
  return spawnSync('sh', ['-c', `command -v ${command}`]).status === 0
}

function install(names) {
  process.stdout.write(`Installing ${names.join(', ')} for the tests …\n`)
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const apt = (...args) =>
    spawnSync('apt-get', [...args], { env, stdio: ['ignore', 'ignore', 'inherit'] }).status === 0
  const options = ['install', '-y', '--no-install-recommends', ...names]
  if (!apt(...options)) apt('update') && apt(...options)
}
