// What delivery asks about campaigns.
import type { Db } from '../../../kernel/db.ts'
import { bool, json, maybe, row, text, time } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import type { Claim } from '../../messages/claim-queries.ts'
import type { CampaignContent } from '../render-campaign.ts'
import type { Ref } from './campaign-queries.ts'

export type StandingRow = {
  in_force: string
  modified_at: Date
  sender: { email: string }
  verified_sender_only: boolean
}

const Standing = row<StandingRow>({
  in_force: text,
  modified_at: time,
  sender: json(),
  verified_sender_only: bool,
})

export function findStanding(db: Db, { account_id, id }: Ref) {
  return db.maybe(
    Standing,
    sql`
    select c.in_force, c.modified_at, c.sender,
           a.settings @> '{"require_verified_sender": true}' as verified_sender_only
      from campaigns c
      join accounts a on a.id = c.account_id
     where c.account_id = ${account_id}
       and c.id = ${id}`,
  )
}

const Content = row<CampaignContent>({
  account_id: text,
  id: text,
  subject: text,
  preview_text: text,
  html: text,
  text: maybe(text),
  sender: json(),
  reply_to: maybe(text),
  to_field: text,
  params: json(),
  ab_test: json(),
  extras: json(),
})

export function findContent(db: Db, { account_id, id }: Ref) {
  return db.one(
    Content,
    sql`
    select account_id, id, subject, preview_text, html, text, sender, reply_to, to_field, params, ab_test, extras
      from campaigns
     where account_id = ${account_id}
       and id = ${id}`,
  )
}

/** Until the commit nobody moves the campaigns of these messages. */
export function lockCampaignsOf(db: Db, claims: Claim[]) {
  return db.run(sql`
    -- all accounts: the worker serves them all
    select 1
      from campaigns
     where id in (select campaign_id from messages where id = any(${claims.map(({ id }) => id)}::uuid[]))
     order by id
       for share`)
}

/**
 * Claimed, and not handed over because the campaign was interrupted. One whose campaign goes on by now stays in the
 * queue, as if it had not been claimed. What somebody else has claimed since is theirs.
 */
export function putAside(db: Db, claims: Claim[], reason: string) {
  return db.run(sql`
    -- all accounts: the worker serves them all
    with known as (
      select m.id, c.in_force, g.attempts
        from unnest(${claims.map(({ id }) => id)}::uuid[], ${claims.map(({ attempts }) => attempts)}::int[])
             as g (id, attempts)
        join messages m on m.id = g.id
        left join campaigns c on c.account_id = m.account_id and c.id = m.campaign_id
       where g.attempts = coalesce((select attempts from delivery_queue where message_id = m.id), g.attempts)),
    aside as (
      update messages m
         set status = case when k.in_force = 'suspended' then 'held' else 'cancelled' end,
             held_reason = case when k.in_force = 'suspended' then ${reason} end
        from known k
       where m.id = k.id
         and k.in_force is distinct from 'in_process'
         and m.status in ('queued', 'held')),
    gone as (
      delete from delivery_queue q
       using known k
       where q.message_id = k.id
         and q.attempts = k.attempts
         and k.in_force is distinct from 'in_process')
    update delivery_queue q
       set due_at = clock_timestamp(), attempts = q.attempts - 1
      from known k
     where q.message_id = k.id
       and q.attempts = k.attempts
       and k.in_force = 'in_process'`)
}
