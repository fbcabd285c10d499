// Postfix, where it is installed and may be started: takes messages over plain SMTP and keeps them in its queue.
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { sparePort } from '../src/main/spare-port.ts'
import type { Stop } from './start.ts'

const run = promisify(execFile)

export async function startPostfix(): Promise<{ port: number; stop: Stop } | undefined> {
  const isInstalled = await run('postconf', ['-d', 'mail_version']).catch(() => undefined)
  // Only root may start it.
  if (!isInstalled || process.getuid?.() !== 0) return undefined
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-postfix-'))
  const port = await sparePort('127.0.0.1')
  await Promise.all(['queue', 'data', 'conf'].map((name) => mkdir(join(folder, name), { mode: 0o755 })))
  await run('chmod', ['755', folder])
  await run('chown', ['postfix', join(folder, 'data')])
  const conf = join(folder, 'conf')
  await writeFile(join(conf, 'main.cf'), mainConf(folder))
  await writeFile(join(conf, 'master.cf'), masterConf(port))
  await run('postfix', ['-c', conf, 'start'])
  return {
    port,
    stop: async () => {
      await run('postfix', ['-c', conf, 'stop'])
      await rm(folder, { recursive: true, force: true })
    },
  }
}

// Everything that is taken is kept on hold: nothing leaves the machine, and nothing works on it later.
const mainConf = (folder: string) => `compatibility_level = 3.6
queue_directory = ${folder}/queue
data_directory = ${folder}/data
myhostname = bench.example.com
mydestination =
inet_interfaces = 127.0.0.1
inet_protocols = ipv4
mynetworks = 127.0.0.0/8
smtpd_client_restrictions = check_client_access static:HOLD
smtpd_client_connection_count_limit = 0
smtpd_peername_lookup = no
`

const masterConf = (port: number) => `127.0.0.1:${port} inet n - n - - smtpd
cleanup unix n - n - 0 cleanup
qmgr unix n - n 300 1 qmgr
rewrite unix - - n - - trivial-rewrite
bounce unix - - n - 0 bounce
defer unix - - n - 0 bounce
trace unix - - n - 0 bounce
verify unix - - n - 1 verify
flush unix n - n 1000? 0 flush
proxymap unix - - n - - proxymap
smtp unix - - n - - smtp
error unix - - n - - error
retry unix - - n - - error
discard unix - - n - - discard
anvil unix - - n - 1 anvil
scache unix - - n - 1 scache
`
