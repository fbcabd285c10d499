import type { Db } from '../../kernel/db.ts'
import { int, json, maybe, row, text, time } from '../../kernel/row.ts'
import { type Sql, sql, when } from '../../kernel/sql.ts'
import type { Range } from '../../kernel/v3/dates.ts'
import type { Slice } from '../../kernel/v3/paging.ts'
import { Campaign, type CampaignRow, type Status } from './campaign-row.ts'

export type CampaignRef = { accountId: string; id: string | number }

const columnsWith = (html: Sql) => sql`
  account_id, id, name, type, status, was_status, subject, preview_text, ${html} as html, text, sender, reply_to,
  to_field, tag, params, recipients, ab_test, winner, extras, scheduled_at, test_sent, created_at, modified_at,
  started_at, frozen_at, total, sent_at, held_reason`

const columns = columnsWith(sql`html`)

export function findCampaign(db: Db, { accountId, id }: CampaignRef) {
  return db.maybe(
    Campaign,
    sql`select ${columns} from campaigns where account_id = ${accountId} and id = ${id}`,
  )
}

/** Nobody else changes it until the transaction ends. */
export function lockCampaign(db: Db, { accountId, id }: CampaignRef) {
  return db.maybe(
    Campaign,
    sql`select ${columns} from campaigns where account_id = ${accountId} and id = ${id} for update`,
  )
}

export type CampaignFilter = { type?: string; status?: string; sent?: Range }

const matches = ({ type, status, sent }: CampaignFilter) => sql`
       ${when(type, (one) => sql`and type = ${one}`)}
       ${when(status, (one) => sql`and status = ${one}`)}
       ${when(sent, ({ since, until }) => sql`and sent_at >= ${since} and sent_at < ${until}`)}`

type Wanted = { filter: CampaignFilter; slice: Slice; withHtml: boolean }

export function listCampaigns(db: Db, accountId: string, { filter, slice, withHtml }: Wanted) {
  const beyond = (after: string) => (slice.ascending ? sql`and id > ${after}` : sql`and id < ${after}`)
  return db.many(
    Campaign,
    sql`
    select ${withHtml ? columns : columnsWith(sql`''`)}
      from campaigns
     where account_id = ${accountId}
       ${matches(filter)}
       ${when(slice.after, beyond)}
     order by ${slice.ascending ? sql`id` : sql`id desc`}
     limit ${slice.limit}
    offset ${slice.offset}`,
  )
}

type BriefRow = Pick<
  CampaignRow,
  'id' | 'name' | 'status' | 'subject' | 'scheduled_at' | 'created_at' | 'total' | 'held_reason'
>

const Brief = row<BriefRow>({
  id: text,
  name: text,
  status: json(),
  subject: text,
  scheduled_at: maybe(time),
  created_at: time,
  total: maybe(int),
  held_reason: maybe(text),
})

type BriefFilter = { status?: Status; after?: string; limit: number }

/** Newest first, without what they say; an A/B test by its first subject. */
export function listBriefly(db: Db, accountId: string, { status, after, limit }: BriefFilter) {
  return db.many(
    Brief,
    sql`
    select id, name, status, coalesce(ab_test ->> 'subjectA', subject) as subject, scheduled_at, created_at, total,
           held_reason
      from campaigns
     where account_id = ${accountId}
       ${when(status, (one) => sql`and status = ${one}`)}
       ${when(after, (id) => sql`and id < ${id}`)}
     order by id desc
     limit ${limit}`,
  )
}

const Count = row<{ count: number }>({ count: int })

export function countCampaigns(db: Db, accountId: string, filter: CampaignFilter) {
  return db.one(
    Count,
    sql`select count(*)::int as count from campaigns where account_id = ${accountId} ${matches(filter)}`,
  )
}

/** What its author gives; the rest tells what became of it. */
export type CampaignFields = Pick<
  CampaignRow,
  | 'name'
  | 'type'
  | 'subject'
  | 'preview_text'
  | 'html'
  | 'text'
  | 'sender'
  | 'reply_to'
  | 'to_field'
  | 'tag'
  | 'params'
  | 'recipients'
  | 'ab_test'
  | 'extras'
>

const Id = row<{ id: string }>({ id: text })

export function insertCampaign(db: Db, accountId: string, one: CampaignFields, at: Date) {
  return db.one(
    Id,
    sql`
    insert into campaigns
      (account_id, name, type, subject, preview_text, html, text, sender, reply_to, to_field, tag, params,
       recipients, ab_test, extras, created_at, modified_at)
    values (${accountId}, ${one.name}, ${one.type}, ${one.subject}, ${one.preview_text}, ${one.html}, ${one.text},
            ${JSON.stringify(one.sender)}, ${one.reply_to}, ${one.to_field}, ${one.tag},
            ${JSON.stringify(one.params)}, ${JSON.stringify(one.recipients)},
            ${one.ab_test && JSON.stringify(one.ab_test)}, ${JSON.stringify(one.extras)}, ${at}, ${at})
    returning id`,
  )
}

/** Interrupted before anything of it was written down. */
const nothingYet = sql`(status = 'suspended' and frozen_at is null)`

/** Of one that has no messages yet. */
export function updateCampaign(db: Db, { accountId, id }: CampaignRef, one: CampaignFields, at: Date) {
  return db.run(sql`
    update campaigns
       set name = ${one.name}, type = ${one.type}, subject = ${one.subject}, preview_text = ${one.preview_text},
           html = ${one.html}, text = ${one.text}, sender = ${JSON.stringify(one.sender)},
           reply_to = ${one.reply_to}, to_field = ${one.to_field}, tag = ${one.tag},
           params = ${JSON.stringify(one.params)}, recipients = ${JSON.stringify(one.recipients)},
           ab_test = ${one.ab_test && JSON.stringify(one.ab_test)}, extras = ${JSON.stringify(one.extras)},
           total = null, modified_at = ${at}
     where account_id = ${accountId}
       and id = ${id}
       and (status in ('draft', 'queued') or ${nothingYet})`)
}

export function markTestSent(db: Db, { accountId, id }: CampaignRef) {
  return db.run(sql`update campaigns set test_sent = true where account_id = ${accountId} and id = ${id}`)
}

/** Messages that are still to go need their campaign. */
const nothingUnderWay = sql`
       and not exists (select 1
                         from messages m
                        where m.account_id = campaigns.account_id
                          and m.campaign_id = campaigns.id
                          and m.status in ('queued', 'held'))`

/** What was counted for the messages of a cancelled one is given back by its row. */
const nothingOwed = sql`
       and (in_force is distinct from 'cancelled' or spent_at is null or followed = 'cancelled')`

export function deleteCampaign(db: Db, { accountId, id }: CampaignRef) {
  return db.run(sql`
    delete from campaigns
     where account_id = ${accountId}
       and id = ${id}
       and (status not in ('in_process', 'suspended') or ${nothingYet})
       ${nothingOwed}
       ${nothingUnderWay}`)
}

type Starter = { keyId: string; mode: 'live' | 'test'; at: Date }

/** `total`: how many it is for, until they are written down. */
export function startCampaign(
  db: Db,
  { accountId, id }: CampaignRef,
  { keyId, mode, at, total }: Starter & { total: number },
) {
  return db.run(sql`
    update campaigns
       set status = 'in_process', started_at = ${at}, key_id = ${keyId}, mode = ${mode}, frozen_at = null,
           total = ${total}, held_reason = null
     where account_id = ${accountId}
       and id = ${id}
       and status in ('draft', 'queued')`)
}

export function keepTotal(db: Db, { accountId, id }: CampaignRef, total: number) {
  return db.run(sql`update campaigns set total = ${total} where account_id = ${accountId} and id = ${id}`)
}

export function scheduleCampaign(
  db: Db,
  { accountId, id }: CampaignRef,
  { keyId, mode }: Pick<Starter, 'keyId' | 'mode'>,
  at: Date,
) {
  return db.run(sql`
    update campaigns
       set status = 'queued', scheduled_at = ${at}, key_id = ${keyId}, mode = ${mode}, held_reason = null
     where account_id = ${accountId}
       and id = ${id}
       and status in ('draft', 'queued')`)
}

export type Move = 'pause' | 'resume' | 'cancel' | 'unschedule' | 'archive' | 'unarchive'

/** The states that a move starts from. */
export const movesFrom: Record<Move, Status[]> = {
  pause: ['in_process', 'queued'],
  resume: ['suspended'],
  cancel: ['draft', 'queued', 'in_process', 'suspended'],
  unschedule: ['queued', 'suspended'],
  archive: ['draft', 'sent', 'cancelled'],
  unarchive: ['archive'],
}

// One that was interrupted before its time had come waits for that again. One that was changed since starts anew:
// those whom it is for now may have joined their list after the first start. What was not counted against cap and quota
// yet counts for the key that resumes.
const movesBy = ({ keyId, mode, at }: Starter): Record<Move, { set: Sql; only?: Sql }> => ({
  pause: { set: sql`status = 'suspended'` },
  resume: {
    set: sql`status = case when started_at is null then 'queued' else 'in_process' end, held_reason = null,
             started_at = case when frozen_at is null and modified_at > started_at then ${at} else started_at end,
             key_id = case when spent_at is null and mode = ${mode} then ${keyId}::uuid else key_id end`,
  },
  cancel: { set: sql`status = 'cancelled'` },
  unschedule: {
    set: sql`status = 'draft', scheduled_at = null`,
    only: sql`and started_at is null`,
  },
  archive: {
    set: sql`was_status = status, status = 'archive'`,
    only: nothingUnderWay,
  },
  unarchive: { set: sql`status = coalesce(was_status, 'draft'), was_status = null` },
})

export function moveCampaign(db: Db, { accountId, id }: CampaignRef, move: Move, by: Starter) {
  const { set, only } = movesBy(by)[move]
  return db.run(sql`
    update campaigns
       set ${set}
     where account_id = ${accountId}
       and id = ${id}
       and status = any(${movesFrom[move]}::text[])
       ${when(only, (piece) => piece)}`)
}
