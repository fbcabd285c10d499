// Who gets a campaign. One text for all that ask: counting before a send, and freezing when it starts.
import type { Db } from '../../kernel/db.ts'
import { bool, int, json, maybe, row, text, time } from '../../kernel/row.ts'
import { type Sql, sql, when } from '../../kernel/sql.ts'
import { type Condition, inSegment, isOrphan } from '../contacts/segments/condition-queries.ts'

/** As the campaign has them. */
export type Recipients = {
  listIds?: number[]
  exclusionListIds?: number[]
  segmentIds?: number[]
  exclusionSegmentIds?: number[]
}

/** With the conditions of the segments, as they are now. */
export type ResolvedRecipients = {
  listIds: number[]
  exclusionListIds: number[]
  segments: Condition[]
  exclusionSegments: Condition[]
  /** What the campaign names and is no more; a send that went on without an exclusion would reach too many. */
  missing: string[]
}

const Segment = row<Condition & { id: string }>({
  id: text,
  isOrphan: bool,
  attribute: text,
  operator: json(),
  value: json(),
})

const Id = row<{ id: string }>({ id: text })

export async function resolveRecipients(
  db: Db,
  accountId: string,
  recipients: Recipients,
): Promise<ResolvedRecipients> {
  const { listIds = [], exclusionListIds = [], segmentIds = [], exclusionSegmentIds = [] } = recipients
  const [lists, segments] = [
    [...listIds, ...exclusionListIds],
    [...segmentIds, ...exclusionSegmentIds],
  ]
  const knownLists = await findLists(db, accountId, lists)
  const conditions = await findConditions(db, accountId, segments)
  const conditionsOf = (ids: number[]) => ids.flatMap((id) => conditions.get(id) ?? [])
  const orphans = [...conditions].filter(([, { isOrphan }]) => isOrphan)
  return {
    listIds,
    exclusionListIds,
    segments: conditionsOf(segmentIds),
    exclusionSegments: conditionsOf(exclusionSegmentIds),
    missing: [
      ...lists.filter((id) => !knownLists.has(id)).map((id) => `list ${id}`),
      ...segments.filter((id) => !conditions.has(id)).map((id) => `segment ${id}`),
      ...orphans.map(([id, { attribute }]) => `attribute ${attribute}, which segment ${id} asks about`),
    ],
  }
}

async function findLists(db: Db, accountId: string, ids: number[]): Promise<Set<number>> {
  if (ids.length === 0) return new Set()
  const found = await db.many(
    Id,
    sql`select id from lists where account_id = ${accountId} and id = any(${ids}::bigint[])`,
  )
  return new Set(found.map(({ id }) => Number(id)))
}

async function findConditions(db: Db, accountId: string, ids: number[]): Promise<Map<number, Condition>> {
  if (ids.length === 0) return new Map()
  const found = await db.many(
    Segment,
    sql`
    select s.id, s.attribute, s.operator, s.value, ${isOrphan} as "isOrphan"
      from segments s
     where s.account_id = ${accountId}
       and s.id = any(${ids}::bigint[])`,
  )
  return new Map(found.map(({ id, ...condition }) => [Number(id), condition]))
}

/**
 * contact_id, email, list_id, joined_at, consent_source, is_unsubscribed, is_suppressed: a select, to stand in
 * brackets. Each contact once, by the lowest list that brought it. A bound on contact_id around it reaches the
 * indexes inside, and with a single list its rows come in that order without a sort. Given a time, who joined the
 * lists later is left out.
 */
export function recipientRows(accountId: string, recipients: ResolvedRecipients, joinedBy?: Date): Sql {
  const { listIds, exclusionListIds, exclusionSegments } = recipients
  return sql`
    select b.contact_id, c.email, b.list_id, b.joined_at, c.consent_source,
           (c.status = 'unsubscribed'
            or (b.list_id is null
                and exists (select 1
                              from list_unsubscriptions u
                             where u.account_id = c.account_id
                               and u.contact_id = c.id
                               and u.list_id = any(${listIds}::bigint[])))) as is_unsubscribed,
           (exists (select 1 from suppressions s where s.account_id = ${accountId} and s.email = c.email)
            or split_part(c.email, '@', -1) in (select domain from blocked_domains where account_id = ${accountId})
            or case when ${hasErased(accountId)}
                    then exists (select 1
                                   from suppressions s
                                  where s.account_id = ${accountId}
                                    and s.email = erased_name(c.email, (select address_key from installation)))
                    else false
               end) as is_suppressed
      from (${brought(accountId, recipients, joinedBy)}) b
      join contacts c on c.account_id = ${accountId} and c.id = b.contact_id
     where c.email is not null
       and not exists (select 1
                         from list_members x
                        where x.account_id = ${accountId}
                          and x.contact_id = b.contact_id
                          and x.list_id = any(${exclusionListIds}::bigint[]))
       and not coalesce(${inAny(exclusionSegments)}, false)`
}

// Asked once: most accounts have erased nobody, and need not hash every address.
export const hasErased = (accountId: string) => sql`
  (select exists (select 1 from suppressions e where e.account_id = ${accountId} and e.email like 'erased:%'))`

function brought(accountId: string, { listIds, segments }: ResolvedRecipients, joinedBy?: Date): Sql {
  // The database reckons in microseconds, the start of a send is known in milliseconds.
  const inTime = when(joinedBy, (at) => sql`and m.added_at < ${new Date(at.getTime() + 1)}`)
  const [only] = listIds
  if (segments.length === 0 && listIds.length === 1)
    return sql`
      select m.contact_id, m.list_id, m.added_at as joined_at
        from list_members m
       where m.account_id = ${accountId} and m.list_id = ${only} ${inTime}`
  return sql`
      select contact_id, min(list_id) as list_id, min(added_at) as joined_at
        from (select m.contact_id, m.list_id, m.added_at
                from list_members m
               where m.account_id = ${accountId} and m.list_id = any(${listIds}::bigint[]) ${inTime}
              union all
              select c.id, null, null
                from contacts c
               where c.account_id = ${accountId} and ${inAny(segments)}) every
       group by contact_id`
}

function inAny(conditions: Condition[]): Sql {
  return conditions.reduce((any, condition) => sql`(${any} or ${inSegment(condition)})`, sql`false`)
}

export type RecipientCounts = { total: number; sendable: number; suppressed: number; unsubscribed: number }

/** `lastJoinedAt`: of those whom lists brought. */
export type Counted = { counts: RecipientCounts; lastJoinedAt: Date | null }

type Part = RecipientCounts & { last: string | null; joined_at: Date | null }

const Part = row<Part>({
  total: int,
  sendable: int,
  suppressed: int,
  unsubscribed: int,
  last: maybe(text),
  joined_at: maybe(time),
})

// One statement for a list of a million would outlast the time that a statement has.
const step = 50_000

/** Who is both unsubscribed and suppressed counts as unsubscribed. Given a time, who joined later does not count. */
export async function countRecipients(
  db: Db,
  accountId: string,
  recipients: Recipients,
  joinedBy?: Date,
): Promise<RecipientCounts> {
  return (await countWithJoining(db, accountId, recipients, joinedBy)).counts
}

export async function countWithJoining(
  db: Db,
  accountId: string,
  recipients: Recipients,
  joinedBy?: Date,
): Promise<Counted> {
  const resolved = await resolveRecipients(db, accountId, recipients)
  const counts = { total: 0, sendable: 0, suppressed: 0, unsubscribed: 0 }
  let lastJoinedAt: Date | null = null
  let after: string | null = '0'
  while (after !== null) {
    const found = await countAfter(db, recipientRows(accountId, resolved, joinedBy), after)
    counts.total += found.total
    counts.sendable += found.sendable
    counts.suppressed += found.suppressed
    counts.unsubscribed += found.unsubscribed
    lastJoinedAt = latest(lastJoinedAt, found.joined_at)
    after = found.total < step ? null : found.last
  }
  return { counts, lastJoinedAt }
}

const latest = (one: Date | null, other: Date | null) => (one && other && other < one ? one : (other ?? one))

function countAfter(db: Db, rows: Sql, after: string): Promise<Part> {
  return db.one(
    Part,
    sql`
    -- all accounts: the rows are those of one
    select count(*)::int as total,
           count(*) filter (where not is_unsubscribed and not is_suppressed)::int as sendable,
           count(*) filter (where is_suppressed and not is_unsubscribed)::int as suppressed,
           count(*) filter (where is_unsubscribed)::int as unsubscribed,
           max(contact_id) as last, max(joined_at) as joined_at
      from (select contact_id, is_unsubscribed, is_suppressed, joined_at
              from (${rows}) r
             where contact_id > ${after}
             order by contact_id
             limit ${step}) part`,
  )
}
