// New mail of one folder, a few messages at a time: read outside any transaction, then written and passed by in one.
import type { Db } from '../../../kernel/db.ts'
import type { FolderState, MailHead, OpenMailbox } from '../../../kernel/mailbox-ports.ts'
import { holdForExport } from '../../contacts/export/queries.ts'
import { markFiled } from '../messages/queries.ts'
import { parseMail } from '../reading/parse-mail.ts'
import { mayBeReport } from '../reading/read-bounce.ts'
import { type FolderRef, findMarker, listUnfiled, type Marker, moveMarker } from './folder-queries.ts'
import type { Incoming } from './incoming.ts'
import { matchThread, rememberedMs } from './match-thread.ts'
import { takeMail } from './take-mail.ts'
import type { WatchedRow } from './watch-queries.ts'

export type Syncing = { db: Db; now: () => Date; mailbox: WatchedRow; open: OpenMailbox }

const atOnce = 50

export async function syncMailbox(syncing: Syncing, stopping: AbortSignal): Promise<void> {
  await findCopies(syncing)
  for (const folder of syncing.open.folders) await syncFolder(syncing, folder, stopping)
}

const refOf = ({ account_id, id }: WatchedRow) => ({ accountId: account_id, mailboxId: id })

async function syncFolder(syncing: Syncing, folder: string, stopping: AbortSignal): Promise<void> {
  const { db, mailbox, open } = syncing
  const ref = { ...refOf(mailbox), folder }
  const state = await open.enter(folder)
  let marker = await placeMarker(syncing, ref, state)
  while (marker && !stopping.aborted) {
    const heads = await open.headsAfter(marker.lastUid, atOnce)
    const last = heads.at(-1)
    if (!last) return
    const incoming = await readOurs(syncing, heads)
    const next: Marker = { uidValidity: state.uidValidity, lastUid: last.uid }
    marker = (await takeAll(db, ref, { from: marker, to: next, incoming })) ? next : undefined
  }
}

type Step = { from: Marker; to: Marker; incoming: Incoming[] }

/** False when another process has read these meanwhile. */
function takeAll(db: Db, ref: FolderRef, { from, to, incoming }: Step): Promise<boolean> {
  return db.transaction(async (tx) => {
    // Whoever erases a person finds what is written here, or nothing of theirs is left to match.
    if (incoming.length > 0) await holdForExport(tx, ref.accountId)
    if (!(await moveMarker(tx, ref, from, to))) return false
    for (const one of incoming) await takeMail(tx, one)
    return true
  })
}

// Clocks differ: what came a little before is looked at as well, and is not ours.
const marginMs = 10 * 60_000

/** Where to go on. A folder that is new to us, or numbered anew, is read from when the mailbox was declared. */
async function placeMarker(
  syncing: Syncing,
  ref: FolderRef,
  state: FolderState,
): Promise<Marker | undefined> {
  const { db, now, mailbox, open } = syncing
  const known = await findMarker(db, ref)
  if (known?.uidValidity === state.uidValidity) return known
  const earliest = Math.max(mailbox.created_at.getTime() - marginMs, now().getTime() - rememberedMs)
  const first = await open.firstSince(new Date(earliest))
  const marker = { uidValidity: state.uidValidity, lastUid: (first ?? state.uidNext) - 1 }
  return (await moveMarker(db, ref, known, marker)) ? marker : undefined
}

/** Of other mail no more than the header is ever asked for. */
async function readOurs(syncing: Syncing, heads: MailHead[]): Promise<Incoming[]> {
  const { mailbox, now, open, db } = syncing
  const into = { ...refOf(mailbox), mailboxEmail: mailbox.email, at: now() }
  const incoming: Incoming[] = []
  for (const { uid, head, receivedAt } of heads) {
    const headed = await parseMail(head)
    if (!headed || headed.from === mailbox.email) continue
    const isReport = mayBeReport(headed)
    if (!isReport && !(await matchThread(db, into, headed))) continue
    const source = await open.source(uid)
    // What cannot be read, or what its owner put away meanwhile, is an answer all the same; a report says nothing then.
    if (source) incoming.push({ ...into, mail: (await parseMail(source)) ?? headed, receivedAt })
    else if (!isReport) incoming.push({ ...into, mail: headed, isHeaderOnly: true, receivedAt })
  }
  return incoming
}

const hourMs = 3_600_000
const lookedForMs = { unconfirmed: 7 * 24 * hourMs, sent: hourMs }

/** What the mailbox filed among its sent mail: it did leave, under the identifier that stands there. */
async function findCopies({ db, now, mailbox, open }: Syncing): Promise<void> {
  const before = (ms: number) => new Date(now().getTime() - ms)
  const since = { unconfirmed: before(lookedForMs.unconfirmed), sent: before(lookedForMs.sent) }
  const messages = await listUnfiled(db, refOf(mailbox), since)
  if (messages.length === 0) return
  const copies = await open.findSent(messages.map(({ id }) => id))
  for (const copy of copies) await markFiled(db, mailbox.account_id, copy, now())
}
