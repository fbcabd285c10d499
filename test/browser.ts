// Debian's Chromium, without a window, told to talk to nobody but the page it is shown.
import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'

/** For the `skip` option of a test: false, or what installs the browser. */
export const withoutBrowser =
  spawnSync('sh', ['-c', 'command -v chromium']).status === 0 ? false : 'needs: apt-get install chromium'

const flags = [
  '--headless',
  '--no-sandbox',
  '--disable-gpu',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--virtual-time-budget=8000',
]

/** The page as it stands after its scripts have run. Every name but ours leads nowhere. */
export async function domOf(url: string): Promise<string> {
  const profile = await mkdtemp(join(tmpdir(), 'posthorn-browser-'))
  const offline = '--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1'
  try {
    const args = [...flags, offline, `--user-data-dir=${profile}`, '--dump-dom', url]
    const { stdout } = await promisify(execFile)('chromium', args, { timeout: 60_000, maxBuffer: 50_000_000 })
    return stdout
  } finally {
    await rm(profile, { recursive: true, force: true, maxRetries: 5 })
  }
}
