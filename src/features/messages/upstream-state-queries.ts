import type { Db } from '../../kernel/db.ts'
import { bool, maybe, row, text, time } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'

export type UpstreamState = { failing: boolean; since: Date; said: string | null }

const State = row<UpstreamState>({ failing: bool, since: time, said: maybe(text) })

export function findUpstreamState(db: Db, upstream: string) {
  return db.maybe(
    State,
    sql`
    -- all accounts: the upstream is one for all of them
    select failing, since, said from upstream_states where upstream = ${upstream}`,
  )
}

export function keepUpstreamState(db: Db, upstream: string, { failing, since, said }: UpstreamState) {
  return db.run(sql`
    -- all accounts: the upstream is one for all of them
    insert into upstream_states as s (upstream, failing, since, said)
    values (${upstream}, ${failing}, ${since}, ${said})
    on conflict (upstream) do update
       set failing = excluded.failing,
           said = excluded.said,
           since = case when s.failing = excluded.failing then s.since else excluded.since end`)
}
