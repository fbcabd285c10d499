// Many mailboxes in which nothing happens, watched by one process: what they cost while they are idle.
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { sealCredentials } from '../../src/features/outreach/mailboxes/credentials.ts'
import { password, startDovecot } from '../../test/stand-ins/dovecot.ts'
import { until } from '../../test/until.ts'
import type { Figure } from '../figure.ts'
import { firstLine, startChild, startDatabase, startService, stopChild } from '../start.ts'
import { onDatabase } from './fill.ts'

const mailboxes = 200
const idleSeconds = 30
const key = Buffer.alloc(32, 7)
// Linux counts the time of processes in these, whatever its own clock does.
const ticksPerSecond = 100

async function makeMailboxes(client: pg.Client, port: number): Promise<void> {
  const { rows } = await client.query(
    `insert into accounts (name, outreach_enabled) values ('bench', true) returning id`,
  )
  const accountId = String(rows[0].id)
  for (let n = 0; n < mailboxes; n++) {
    const email = `owner${n}@shop.example`
    const secrets = { smtp: { password }, imap: { password } }
    const sealed = await sealCredentials(async () => [key], { accountId, email }, secrets)
    const server = JSON.stringify({ host: '127.0.0.1', port, secure: false, user: `owner${n}` })
    await client.query(
      `insert into outreach_mailboxes (account_id, email, name, smtp, imap, sealed, daily_limit, created_at,
                                       modified_at)
       values ($1, $2, '', $3, $3, $4, 50, now(), now())`,
      [accountId, email, server, sealed],
    )
  }
}

const areAllRead = (client: pg.Client) => async () => {
  const { rows } = await client.query('select count(last_sync_at)::int as read from outreach_mailboxes')
  return rows[0].read === mailboxes
}

type Cost = { megabytes: number; cores: number }

async function costOf(pid: number): Promise<Cost> {
  const secondsUsed = async () => {
    const fields = (await readFile(`/proc/${pid}/stat`, 'utf8')).replace(/^.*\) /, '').split(' ')
    return (Number(fields[11]) + Number(fields[12])) / ticksPerSecond
  }
  // What starting took is not what waiting takes.
  await sleep(5_000)
  const before = await secondsUsed()
  await sleep(idleSeconds * 1_000)
  const cores = ((await secondsUsed()) - before) / idleSeconds
  const kilobytes = /VmRSS:\s+(\d+)/.exec(await readFile(`/proc/${pid}/status`, 'utf8'))?.[1]
  return { megabytes: Number(kilobytes) / 1024, cores }
}

async function measure(script: string, args: string[], isReady: () => Promise<boolean>): Promise<Cost> {
  const child = startChild(script, ...args)
  try {
    await firstLine(child)
    await until(isReady, 'all mailboxes to be watched', 120_000)
    return await costOf(child.pid ?? 0)
  } finally {
    await stopChild(child)
  }
}

export async function benchMailboxes(): Promise<Figure[]> {
  const [database, dovecot] = [await startDatabase(), await startDovecot()]
  try {
    const service = await startService(database.url, ['--role', 'api'])
    await service.stop()
    return await onDatabase(database.url, async (client) => {
      await makeMailboxes(client, dovecot.port)
      const bareArgs = [String(dovecot.port), password, String(mailboxes)]
      const bare = await measure('bare-idle', bareArgs, async () => true)
      const ours = await measure('mailbox-watcher', [database.url, key.toString('hex')], areAllRead(client))
      return figuresOf(ours, bare)
    })
  } finally {
    await dovecot.stop()
    await database.stop()
  }
}

const figuresOf = (ours: Cost, bare: Cost): Figure[] => [
  {
    name: `memory of ${mailboxes} idle mailboxes, MB`,
    anchor: 'imapflow alone',
    measured: ours.megabytes,
    anchorMeasured: bare.megabytes,
    ratio: ours.megabytes / bare.megabytes,
    wanted: 0,
    atMost: 2,
  },
  {
    name: `processor of ${mailboxes} idle mailboxes, % of a core`,
    anchor: 'a whole core',
    measured: ours.cores * 100,
    anchorMeasured: 100,
    ratio: ours.cores,
    wanted: 0,
    atMost: 0.05,
  },
]
