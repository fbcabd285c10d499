// Debian's Dovecot on a port of its own: a real IMAP server with as many users as names are used, one password for all.
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir, userInfo } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import { ImapFlow } from 'imapflow'
import { sparePort } from '../spare-port.ts'
import { until } from '../until.ts'

const isThere = spawnSync('sh', ['-c', 'command -v dovecot']).status === 0

/** For the `skip` option of a test: false, or what installs the server. Where all has to run it is never skipped. */
export const withoutDovecot =
  isThere || process.env.CI === 'true' ? false : 'needs: apt-get install dovecot-imapd'

export const password = 'long-enough-password'

export type Dovecot = {
  port: number
  /** TLS from the start; 0 where the server was given no certificate. */
  securePort: number
  /** Puts a message, or several, into a folder, as a delivering server would. */
  append(user: string, raw: string | string[], options?: { folder?: string; at?: Date }): Promise<void>
  /** The folder is made anew from its files: all messages have other numbers. */
  rebuild(user: string): Promise<void>
  stop(): Promise<void>
}

type Runner = { user: string; group: string; uid: number; gid: number }

/** Root gives its rights up; anybody else runs it as themselves. */
function runner(): Runner {
  const { uid, gid, username } = userInfo()
  if (uid === 0) return { user: 'nobody', group: 'nogroup', uid: 65_534, gid: 65_534 }
  const group = spawnSync('id', ['-gn'], { encoding: 'utf8' }).stdout.trim()
  return { user: username, group, uid, gid }
}

const always = `
protocols = imap
listen = 127.0.0.1
disable_plaintext_auth = no
# A wrong password is answered without a penalty: tests try several.
auth_failure_delay = 0
default_process_limit = 1000
default_client_limit = 4000
mail_max_userip_connections = 50
first_valid_uid = 1
passdb {
  driver = static
  args = password=${password}
}
namespace inbox {
  inbox = yes
  mailbox Sent {
    special_use = \\Sent
    auto = create
  }
  mailbox Spam {
    special_use = \\Junk
    auto = create
  }
}
service anvil {
  chroot =
  unix_listener anvil-auth-penalty {
    mode = 0
  }
}
service stats {
  chroot =
}
`

type Place = { folder: string; port: number; securePort: number; hasTls: boolean }

const configuration = ({ folder, port, securePort, hasTls }: Place, as: Runner) => `
base_dir = ${folder}/run
state_dir = ${folder}/run
log_path = ${folder}/dovecot.log
mail_location = maildir:${folder}/mail/%u
default_internal_user = ${as.user}
default_internal_group = ${as.group}
default_login_user = ${as.user}
userdb {
  driver = static
  args = uid=${as.uid} gid=${as.gid} home=${folder}/mail/%u
}
service imap-login {
  chroot =
  inet_listener imap {
    port = ${port}
  }
  inet_listener imaps {
    port = ${securePort}
    ssl = yes
  }
}
ssl = ${hasTls ? 'yes' : 'no'}
${hasTls ? `ssl_cert = <${folder}/cert.pem\nssl_key = <${folder}/key.pem` : ''}
${always}`

export type Certificate = { key: string; cert: string }

/** With a certificate it speaks TLS: from the start on the one port, after STARTTLS on the other. */
export async function startDovecot(certificate?: Certificate): Promise<Dovecot> {
  const folder = await mkdtemp(join(tmpdir(), 'posthorn-dovecot-'))
  const [as, port] = [runner(), await sparePort()]
  const securePort = certificate ? await sparePort() : 0
  await chmod(folder, 0o755)
  for (const each of ['run', 'mail']) await mkdir(join(folder, each), { mode: 0o755 })
  if (process.getuid?.() === 0) await chown(join(folder, 'mail'), as.uid, as.gid)
  for (const [name, text] of Object.entries(certificate ?? {}))
    await writeFile(join(folder, `${name}.pem`), text)
  const file = join(folder, 'dovecot.conf')
  await writeFile(file, configuration({ folder, port, securePort, hasTls: certificate !== undefined }, as))
  const child = spawn('dovecot', ['-F', '-c', file], { stdio: 'ignore' })
  child.on('error', () => {})
  const stop = () => end(child, folder)
  await until(() => listens(port), 'Dovecot').catch(async (error) => {
    const said = await readFile(join(folder, 'dovecot.log'), 'utf8').catch(() => 'nothing')
    await stop()
    throw new Error(`Dovecot did not start, it says: ${said}`, { cause: error })
  })
  return {
    port,
    securePort,
    append: (user, raw, options) => append(port, user, raw, options),
    rebuild: (user) => rebuild(join(folder, 'mail', user)),
    stop,
  }
}

/** For the tests of one file. */
export async function dovecotForTests(certificate?: Certificate): Promise<Dovecot> {
  const dovecot = await startDovecot(certificate)
  after(() => dovecot.stop())
  return dovecot
}

async function end(child: ChildProcess, folder: string): Promise<void> {
  if (child.exitCode === null && child.signalCode === null && child.pid !== undefined) {
    const over = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    await over
  }
  await rm(folder, { recursive: true, force: true, maxRetries: 5 })
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => {
      socket.destroy()
      resolve(true)
    })
    socket.on('error', () => resolve(false))
  })
}

async function append(
  port: number,
  user: string,
  raw: string | string[],
  { folder = 'INBOX', at }: { folder?: string; at?: Date } = {},
) {
  const auth = { user, pass: password }
  const client = new ImapFlow({ host: '127.0.0.1', port, doSTARTTLS: false, auth, logger: false })
  await client.connect()
  for (const each of [raw].flat()) await client.append(folder, each, [], at)
  await client.logout()
}

async function rebuild(folder: string): Promise<void> {
  for (const name of ['dovecot-uidlist', 'dovecot.index', 'dovecot.index.log', 'dovecot.index.cache'])
    await rm(join(folder, name), { force: true })
}
