// The service with its relay in front, over real sockets, and a mail program to talk to it.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import nodemailer from 'nodemailer'
import { silentLog } from '../../src/kernel/log.ts'
import { bytes, row, text } from '../../src/kernel/row.ts'
import { sql } from '../../src/kernel/sql.ts'
import { readConfig } from '../../src/main/config.ts'
import { type RunningRelay, startRelay } from '../../src/main/relay.ts'
import { type App, type AppOptions, makeApp } from '../app.ts'

export type Mail = {
  from?: string
  to?: string | string[]
  bcc?: string
  subject?: string
  text?: string
  html?: string
  attachments?: { filename: string; content: string }[]
  headers?: Record<string, string>
  raw?: string
  envelope?: { from: string; to: string[] }
}

export type Sent = { accepted: string[]; rejected: string[]; response: string }
export type Failure = { code: string; responseCode: number; response: string; command?: string }

export type StoredRow = { id: string; recipient: string; status: string; raw: string }

export type RelayApp = App & {
  relay: RunningRelay
  /** Closed with the test file. */
  mailer(key?: string, options?: object): { sendMail(mail: Mail): Promise<Sent>; close(): void }
  send(mail: Mail, key?: string): Promise<Sent>
  /** What the server answered when it did not take the mail. */
  refused(mail: Mail, key?: string): Promise<Failure>
  /** Straight from the database, oldest first. */
  stored(accountId?: string): Promise<StoredRow[]>
  /** What the transport was given. */
  captured(accountId: string): Promise<Buffer[]>
}

export const aMail: Mail = {
  from: 'Shop <shop@example.com>',
  to: 'anna@example.com',
  subject: 'Hello',
  text: 'Hi.',
}

export async function makeRelayApp(options: AppOptions = {}): Promise<RelayApp> {
  const dataDir = await mkdtemp(join(tmpdir(), 'posthorn-relay-'))
  const closers: (() => unknown)[] = [() => rm(dataDir, { recursive: true, force: true })]
  // Before the hooks of the app, which close the database.
  after(async () => {
    for (const close of closers.reverse()) await close()
  })
  const app = await makeApp(options)
  const env = {
    DATABASE_URL: app.databaseUrl,
    POSTHORN_DATA_DIR: dataDir,
    POSTHORN_SMTP_PORT: '0',
    ...options.env,
  }
  const { log = silentLog } = options
  const relay = await startRelay({ config: readConfig(env), pools: app.pools, log, strict: true })
  closers.push(() => relay.close())
  const mailer: RelayApp['mailer'] = (key = app.key, more = {}) => {
    const made = mailerFor(relay.port, key, more)
    closers.push(() => made.close())
    return made
  }
  const send: RelayApp['send'] = (mail, key) => mailer(key).sendMail({ ...aMail, ...mail })
  return {
    ...app,
    relay,
    mailer,
    send,
    refused: (mail, key) =>
      send(mail, key).then(
        ({ response }) => Promise.reject(new Error(`not refused: ${response}`)),
        (error: Failure) => error,
      ),
    stored: (accountId = app.accountId) => storedIn(app, accountId),
    captured: (accountId) => capturedIn(app, accountId),
  }
}

export function mailerFor(port: number, key: string, more: object = {}) {
  const auth = { user: 'apikey', pass: key }
  const options = {
    host: '127.0.0.1',
    port,
    requireTLS: true,
    tls: { rejectUnauthorized: false },
    auth,
    ...more,
  }
  return nodemailer.createTransport(options) as unknown as ReturnType<RelayApp['mailer']>
}

const Stored = row<StoredRow>({ id: text, recipient: text, status: text, raw: text })

function storedIn({ pools }: App, accountId: string): Promise<StoredRow[]> {
  return pools.db.many(
    Stored,
    sql`select m.id, m.recipient, m.status, convert_from(b.raw, 'UTF8') as raw
          from messages m join message_bodies b on b.message_id = m.id
         where m.account_id = ${accountId} and m.source = 'smtp'
         order by m.id`,
  )
}

async function capturedIn({ pools }: App, accountId: string): Promise<Buffer[]> {
  const rows = await pools.db.many(
    row<{ raw: Buffer }>({ raw: bytes }),
    sql`select raw from captured_messages where account_id = ${accountId} order by id`,
  )
  return rows.map(({ raw }) => raw)
}
