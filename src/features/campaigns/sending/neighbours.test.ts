// A campaign that cannot be worked on, whatever the reason, does not keep others from being sent.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'
import { sql } from '../../../kernel/sql.ts'
import { jobsOf, makeCampaign, makeList, pause, progress } from './fixtures/campaigns.ts'
import { people, stepsWith } from './fixtures/steps.ts'

const app = await makeApp()
const { db } = app.pools
const run = jobsOf(db)
const { owner, queued } = stepsWith(app)

async function made(): Promise<string> {
  const me = await owner()
  const list = await makeList(db, me, people(3))
  return makeCampaign(db, me, { recipients: { listIds: [list] } })
}

test('one campaign that fails is passed over by the jobs, and told', async () => {
  const [broken, other] = [await made(), await made()]
  assert.ok(Number(broken) < Number(other))
  await run('freeze')
  // Any change of a message of the first, and of its row that feeding makes, fails from now on.
  await db.run(sql`create table broken (campaign_id bigint)`)
  await db.run(sql`insert into broken values (${broken})`)
  await db.run(sql`
    create function fail() returns trigger language plpgsql as $$
    begin
      if exists (select 1 from broken where campaign_id = (to_jsonb(new) ->> tg_argv[0])::bigint)
      then raise exception 'planted'; end if;
      return new;
    end $$`)
  await db.run(sql`
    create trigger fail before update on messages for each row execute function fail('campaign_id')`)
  await db.run(sql`
    create trigger fail before update of fed_to on campaigns for each row execute function fail('id')`)
  await assert.rejects(run('feed'), /planted/)
  assert.deepEqual([await queued(broken), await queued(other)], [0, 3])
  for (const id of [broken, other]) await pause(db, id)
  await assert.rejects(run('follow'), /planted/)
  assert.deepEqual((await progress(db, broken)).counts, { queued: 3 })
  assert.deepEqual((await progress(db, other)).counts, { held: 3 })
})
