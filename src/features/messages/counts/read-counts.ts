// Counts as statistics tell them: with the account's two filters applied, and what these took out.
import type { Db } from '../../../kernel/db.ts'
import type { Status } from '../model.ts'
import { type CountFilter, type CountRow, type Grouping, readCountRows } from './queries.ts'

/** Every count by its name; one that is not there is 0. */
export type Counts = Record<string, number>

export async function readCounts(db: Db, filter: CountFilter): Promise<Counts> {
  return (await readCountsBy(db, filter, 'all')).get('') ?? {}
}

export async function readCountsBy(db: Db, filter: CountFilter, by: Grouping): Promise<Map<string, Counts>> {
  const found = new Map<string, Counts>()
  for (const one of await readCountRows(db, filter, by)) add(found, one)
  return found
}

function add(found: Map<string, Counts>, { group, name, n }: CountRow): void {
  const counts = found.get(group) ?? {}
  counts[name] = n
  found.set(group, counts)
}

/** Which opens and clicks the account counts besides those of people. */
export type Counted = { robots: boolean; proxies: boolean }

/** As accounts set it up. */
export function countedBy(settings: {
  exclude_robot_activity: boolean
  exclude_privacy_proxy_opens: boolean
}): Counted {
  return { robots: !settings.exclude_robot_activity, proxies: !settings.exclude_privacy_proxy_opens }
}

export type Tally = ReturnType<typeof tallyOf>

/** A proxy opens what nobody reads, but only people click through one. */
export function tallyOf(counts: Counts, { robots, proxies }: Counted) {
  const of = (name: string) => counts[name] ?? 0
  const opens = { total: of('opens.human'), unique: messagesSeen(counts, openBits({ robots, proxies })) }
  const clicks = {
    total: of('clicks.human') + of('clicks.privacy_proxy'),
    unique: messagesSeen(counts, clickBits({ robots })),
  }
  if (proxies) opens.total += of('opens.privacy_proxy')
  if (robots) opens.total += of('opens.robot')
  if (robots) clicks.total += of('clicks.robot')
  return {
    sent: of('sent'),
    delivered: of('delivered'),
    bounced: of('bounced'),
    hardBounces: of('hard_bounces'),
    softBounces: of('soft_bounces'),
    complaints: of('complaints'),
    unsubscriptions: of('unsubscriptions'),
    blocked: of('blocked'),
    deferred: of('deferred'),
    opens,
    clicks,
    filtered: {
      privacy_proxy_opens: proxies ? 0 : of('opens.privacy_proxy'),
      robot_opens: robots ? 0 : of('opens.robot'),
      robot_clicks: robots ? 0 : of('clicks.robot'),
    },
  }
}

// The bits of messages.seen.
export const openBits = ({ robots, proxies }: Counted) => 1 | (proxies ? 2 : 0) | (robots ? 4 : 0)
export const clickBits = ({ robots }: { robots: boolean }) => 8 | 16 | (robots ? 32 : 0)

function messagesSeen(counts: Counts, bits: number): number {
  return Object.entries(counts)
    .filter(([name]) => name.startsWith('seen.') && (Number(name.slice(5)) & bits) !== 0)
    .reduce((sum, [, n]) => sum + n, 0)
}

const statuses: Status[] = ['queued', 'held', 'sent', 'delivered', 'failed', 'suppressed', 'cancelled']

export type Progress = Record<Status, number> & { total: number }

/** How many of a campaign's messages are in each state; or of those only that were erased. */
export function progressOf(counts: Counts, of: 'status' | 'erased' = 'status'): Progress {
  const each = Object.fromEntries(
    statuses.map((status) => [status, counts[`${of}.${status}`] ?? 0]),
  ) as Record<Status, number>
  return { ...each, total: Object.values(each).reduce((sum, n) => sum + n, 0) }
}
