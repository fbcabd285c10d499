// The file of a campaign is fetched once, before its recipients are frozen, and kept for as long as it is sent.
import type { Db } from '../../../kernel/db.ts'
import { Refusal } from '../../../kernel/refusal.ts'
import { invalidParameter } from '../../../kernel/refusals.ts'
import { fetchFile } from '../../transactional/attached-file.ts'
import type { FetchAttachment } from '../../transactional/v3/attachments.ts'
import { lockWaiting, type Ref, suspend } from './campaign-queries.ts'
import { claimFile, dropTry, keepFile, listLacking, type Try, tryFileAgain } from './file-queries.ts'
import { tellInterrupted } from './tell-interrupted.ts'

/** Without a way to fetch, a campaign with a file is interrupted. */
export type FileNeeds = { db: Db; fetchAttachment?: FetchAttachment }

const fetchNothing: FetchAttachment = async () => {
  throw new Error('attachments by address are not enabled')
}

// Every recipient gets it: what is larger belongs behind a link.
const mostMegabytes = 4
// Longer than a fetch can take.
const leaseMs = 120_000
const againMs = 20_000
const mostTries = 3

const sideBySide = 10

const mend = 'Mend it, then resume the campaign.'

/** Side by side, so that a slow address holds up few others. */
export async function fetchFiles(needs: FileNeeds, now: Date): Promise<void> {
  const lacking = await listLacking(needs.db)
  const work = async () => {
    for (let one = lacking.shift(); one; one = lacking.shift()) await tryFile(needs, one, now)
  }
  await Promise.all(Array.from({ length: sideBySide }, work))
}

/** Where the file cannot be had, the campaign is interrupted and says why. */
async function tryFile(needs: FileNeeds, ref: Ref & { url: string }, now: Date): Promise<void> {
  const { db } = needs
  const { url } = ref
  const later = (ms: number) => new Date(now.getTime() + ms)
  const claimed = await claimFile(db, ref, url, { now, until: later(leaseMs) })
  if (!claimed) return
  const tried = { url, tries: claimed.tries }
  const file = await fetchSmall(needs.fetchAttachment ?? fetchNothing, url)
  if (!(file instanceof Refusal)) await keepFile(db, ref, url, file)
  else if (claimed.tries < mostTries) await tryFileAgain(db, ref, tried, later(againMs))
  else await db.transaction((tx) => giveUp(tx, ref, { ...tried, reason: `${file.message}. ${mend}` }, now))
}

async function fetchSmall(fetch: FetchAttachment, url: string) {
  try {
    const file = await fetchFile(fetch, url)
    if (file.content.length <= mostMegabytes * 1024 * 1024) return file
    return invalidParameter({ message: `The attachment ${url} is larger than ${mostMegabytes} MB` })
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}

/** Whoever resumes the campaign begins anew. */
async function giveUp(tx: Db, ref: Ref, { reason, ...tried }: Try & { reason: string }, now: Date) {
  const campaign = await lockWaiting(tx, ref)
  const isDropped = (await dropTry(tx, ref, tried)) > 0
  if (!isDropped || campaign?.in_force !== 'in_process') return
  await suspend(tx, ref, reason)
  await tellInterrupted(tx, ref, reason, now)
}
