// The winner of an A/B test: the subject that more people opened, or clicked in. Even is A. A proxy opens what nobody
// reads, but only people click through one.
import type { Db } from '../../../kernel/db.ts'
import { json, row } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import { Ref } from './campaign-queries.ts'

/**
 * Those of whose test everything has been tried once: its time begins. Not at the start of the campaign, which can be
 * interrupted before, and not at the last retry, which may be days later. What the upstream does not take is held, and
 * so is the rest, which waits for the winner and has another variant.
 */
export function markTested(db: Db, now: Date) {
  return db.run(sql`
    -- all accounts: the job serves them all
    update campaigns c
       set tested_at = ${now}
     where c.in_force = 'in_process'
       and c.followed = 'in_process'
       and c.winner is null
       and c.tested_at is null
       and (c.ab_test ->> 'splitRule')::int < 50
       and not exists (select 1
                         from messages m
                        where m.account_id = c.account_id
                          and m.campaign_id = c.id
                          and m.status = 'queued'
                          and m.attempts = 0)
       and not exists (select 1
                         from messages m
                        where m.account_id = c.account_id
                          and m.campaign_id = c.id
                          and m.status = 'held'
                          and m.variant in ('A', 'B')
                          and m.attempts = 0)`)
}

/** Those whose test has lasted long enough. */
export function listUndecided(db: Db, now: Date) {
  return db.many(
    Ref,
    sql`
    -- all accounts: the job serves them all
    select account_id, id
      from campaigns
     where in_force = 'in_process'
       and frozen_at is not null
       and winner is null
       and (ab_test ->> 'splitRule')::int < 50
       and tested_at + make_interval(hours => coalesce((ab_test ->> 'winnerDelay')::int, 1)) <= ${now}
     order by id`,
  )
}

const Winner = row<{ winner: 'A' | 'B' }>({ winner: json() })

export function findWinner(db: Db, { account_id, id }: Ref, event: 'open' | 'click') {
  const people = event === 'open' ? ['human'] : ['human', 'privacy_proxy']
  return db.one(
    Winner,
    sql`
    select case when count(*) filter (where m.variant = 'B') > count(*) filter (where m.variant = 'A')
                then 'B' else 'A' end as winner
      from messages m
     where m.account_id = ${account_id}
       and m.campaign_id = ${id}
       and m.variant in ('A', 'B')
       and exists (select 1
                     from message_events e
                    where e.account_id = m.account_id
                      and e.message_id = m.id
                      and e.type = ${event}
                      and e.data ->> 'classification' = any(${people}::text[]))`,
  )
}

/** The rest is to be released: its messages are looked at again. */
export function setWinner(db: Db, { account_id, id }: Ref, winner: 'A' | 'B') {
  return db.run(sql`
    update campaigns
       set winner = ${winner}, followed = null, followed_to = null
     where account_id = ${account_id}
       and id = ${id}`)
}
