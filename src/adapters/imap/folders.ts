import type { ImapFlow, SearchObject } from 'imapflow'
import type { MailHead, MailServer, OpenMailbox, SentCopy } from '../../kernel/mailbox-ports.ts'
import { within } from '../../kernel/within.ts'
import { faultOf, gone, late } from './fault.ts'

type Connected = { server: MailServer; timeoutMs: number }
type Exchange = <T>(work: () => Promise<T>) => Promise<T>

const longestHead = 64 * 1024
const longestSource = 1024 * 1024
const pollMs = 2 * 60_000

/** Only what comes in is read: the inbox, and what was taken for junk. */
export async function openFolders(client: ImapFlow, connected: Connected): Promise<OpenMailbox> {
  const exchange = exchangeOver(client, connected)
  const listed = await exchange(() => client.list())
  const pathOf = (use: string) => listed.find(({ specialUse }) => specialUse === use)?.path
  const junk = pathOf('\\Junk')
  // Said before, during or after a look: the next look is at once.
  const news = { isThere: false }
  client.on('exists', () => {
    news.isThere = true
  })
  return {
    folders: [...(junk === undefined ? [] : [junk]), 'INBOX'],
    enter: (folder) =>
      exchange(async () => {
        news.isThere = false
        const { uidValidity, uidNext } = await client.mailboxOpen(folder, { readOnly: true })
        return { uidValidity: String(uidValidity), uidNext }
      }),
    firstSince: (time) => exchange(() => firstSince(client, time)),
    headsAfter: (uid, limit) => exchange(() => headsAfter(client, uid, limit)),
    source: (uid) => exchange(() => sourceOf(client, uid)),
    findSent: (refs) => exchange(() => findSent(client, pathOf('\\Sent'), refs)),
    wait: (ms, stopping) => waitIn(client, news, { ms, stopping, server: connected.server }),
    close: () => client.close(),
  }
}

function exchangeOver(client: ImapFlow, { server, timeoutMs }: Connected): Exchange {
  return async (work) => {
    try {
      if (!client.usable) throw gone(server)
      return await within(timeoutMs, work(), () => late(server))
    } catch (error) {
      client.close()
      throw faultOf(error, server)
    }
  }
}

const search = async (client: ImapFlow, wanted: SearchObject) =>
  ((await client.search(wanted, { uid: true })) || []).sort((a, b) => a - b)

const dayMs = 24 * 3_600_000
// Servers take lines of some thousand characters.
const portion = 100

/** Servers know days only, and those of their own zone: a day more is looked at. */
async function firstSince(client: ImapFlow, time: Date): Promise<number | undefined> {
  const uids = await search(client, { since: new Date(time.getTime() - dayMs) })
  for (let at = 0; at < uids.length; at += portion) {
    const some = uids.slice(at, at + portion).join(',')
    const found = await client.fetchAll(some, { internalDate: true }, { uid: true })
    const late = found.filter(({ internalDate }) => timeOf(internalDate) >= time).map(({ uid }) => uid)
    if (late.length > 0) return Math.min(...late)
  }
  return undefined
}

const timeOf = (given: Date | string | undefined) => new Date(given ?? 0)

async function headsAfter(client: ImapFlow, after: number, limit: number): Promise<MailHead[]> {
  // The server gives at least the last message, even when its number is lower.
  const uids = (await search(client, { uid: `${after + 1}:*` })).filter((uid) => uid > after).slice(0, limit)
  if (uids.length === 0) return []
  const wanted = { internalDate: true, bodyParts: [{ key: 'header', start: 0, maxLength: longestHead }] }
  const found = await client.fetchAll(uids.join(','), wanted, { uid: true })
  return found
    .map(({ uid, internalDate, headers }) => ({
      uid,
      receivedAt: timeOf(internalDate),
      head: headers ?? Buffer.alloc(0),
    }))
    .sort((a, b) => a.uid - b.uid)
}

async function sourceOf(client: ImapFlow, uid: number): Promise<Buffer | undefined> {
  const source = { start: 0, maxLength: longestSource }
  const found = await client.fetchOne(String(uid), { source }, { uid: true })
  return (found || undefined)?.source
}

async function findSent(client: ImapFlow, folder: string | undefined, refs: string[]): Promise<SentCopy[]> {
  if (folder === undefined || refs.length === 0) return []
  await client.mailboxOpen(folder, { readOnly: true })
  const copies: SentCopy[] = []
  for (const ref of refs) {
    const uid = (await search(client, { header: { 'X-Posthorn-Id': ref } })).at(-1)
    if (uid !== undefined) copies.push({ ref, messageId: await messageIdOf(client, uid) })
  }
  return copies
}

async function messageIdOf(client: ImapFlow, uid: number): Promise<string | null> {
  const found = await client.fetchOne(String(uid), { headers: ['message-id'] }, { uid: true })
  const head = (found || undefined)?.headers?.toString('latin1') ?? ''
  return /^message-id:\s*(<[!-;=?-~]{1,900}>)/im.exec(head)?.[1] ?? null
}

type Waiting = { ms: number; stopping: AbortSignal; server: MailServer }

async function waitIn(client: ImapFlow, news: { isThere: boolean }, { ms, stopping, server }: Waiting) {
  const canIdle = client.capabilities.has('IDLE')
  if (!client.usable) throw gone(server)
  if (news.isThere || stopping.aborted) return
  // It ends by itself when the next command comes; by then it is renewed as well.
  if (canIdle) client.idle().catch(() => {})
  await new Promise<void>((resolve) => {
    const done = () => {
      clearTimeout(timer)
      client.off('exists', done)
      client.off('close', done)
      stopping.removeEventListener('abort', done)
      resolve()
    }
    const timer = setTimeout(done, canIdle ? ms : Math.min(ms, pollMs))
    client.once('exists', done)
    client.once('close', done)
    stopping.addEventListener('abort', done)
  })
  if (!client.usable) throw gone(server)
}
