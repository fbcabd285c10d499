// Random sequences of acts, after each of which the service and a model of it agree on who may be written to.
// Others than these: POSTHORN_SEED, and POSTHORN_ACCOUNTS for more of them.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { recipientRows } from '../../src/features/campaigns/recipients-queries.ts'
import { env } from '../../src/features/contacts/unsubscribe/fixtures/people.ts'
import { findOptout } from '../../src/features/sms/queries.ts'
import { findSuppressed } from '../../src/features/suppressions/queries.ts'
import { bool, json, maybe, row, text } from '../../src/kernel/row.ts'
import { sql } from '../../src/kernel/sql.ts'
import { makeApp } from '../app.ts'
import { diceOf } from '../fuzz/dice.ts'
import { actSomehow } from './acts.ts'
import { isStopped, makeModel, mayGetSms, stopsOf } from './model.ts'
import { emails, phones, type World } from './world.ts'

const app = await makeApp({ env })
const { db } = app.pools

const seed = Number(process.env.POSTHORN_SEED ?? 1)
const accounts = Number(process.env.POSTHORN_ACCOUNTS ?? 8)
const length = 40

async function makeWorld(number: number): Promise<World> {
  const { key, accountId } = await app.makeAccount()
  const list = async (name: string) =>
    (await app.call('POST', '/v3/contacts/lists', { key, body: { name } })).body.id
  const lists = [await list('News'), await list('Offers')]
  return { app, key, accountId, lists, dice: diceOf(seed + number), known: makeModel() }
}

const Found = row<{ told: object }>({ told: json() })
const Recipient = row<{ email: string | null; is_unsubscribed: boolean; is_suppressed: boolean }>({
  email: maybe(text),
  is_unsubscribed: bool,
  is_suppressed: bool,
})

async function asTheyAre({ accountId, lists }: World) {
  const contacts = await db.many(
    Found,
    sql`
    select json_build_object('email', email, 'ext', ext_id, 'sms', sms, 'status', status, 'smsBlocked', sms_blacklisted,
             'lists', array(select list_id from list_members m
                             where m.account_id = c.account_id and m.contact_id = c.id order by 1),
             'leftLists', array(select list_id from list_unsubscriptions u
                                 where u.account_id = c.account_id and u.contact_id = c.id order by 1)) as told
      from contacts c
     where account_id = ${accountId}
     order by id`,
  )
  const stopped = await findSuppressed(
    db,
    emails.map((email) => ({ accountId, email })),
  )
  const resolved = { listIds: lists, exclusionListIds: [], segments: [], exclusionSegments: [], missing: [] }
  const recipients = await db.many(
    Recipient,
    sql`
    -- all accounts: the rows are those of one
    select email, is_unsubscribed, is_suppressed from (${recipientRows(accountId, resolved)}) r`,
  )
  const optouts = await Promise.all(phones.map((phone) => findOptout(db, accountId, phone)))
  return {
    contacts: contacts.map(({ told }) => JSON.stringify(told)),
    mail: emails.filter((email) => !stopped.some((one) => one.email === email)),
    campaign: recipients
      .flatMap((one) => (one.is_unsubscribed || one.is_suppressed ? [] : [one.email]))
      .sort(),
    sms: phones.filter((_, i) => !optouts[i]),
  }
}

const sorted = (ids: Set<number>) => [...ids].sort((a, b) => a - b)

function asTheyShouldBe({ known }: World) {
  const mail = emails.filter((email) => !isStopped(stopsOf(known, email)))
  return {
    contacts: known.contacts.map(({ email, ext, sms, status, smsBlocked, lists, leftLists }) =>
      JSON.stringify({
        email,
        ext,
        sms,
        status,
        smsBlocked,
        lists: sorted(lists),
        leftLists: sorted(leftLists),
      }),
    ),
    mail,
    campaign: known.contacts
      .flatMap(({ email, status, lists }) =>
        email && mail.includes(email) && status === 'subscribed' && lists.size > 0 ? [email] : [],
      )
      .sort(),
    sms: phones.filter((phone) => mayGetSms(known, phone)),
  }
}

test(`whoever may be written to is who should be, whatever was done before (seed ${seed})`, async () => {
  for (let number = 0; number < accounts; number++) {
    const world = await makeWorld(number)
    const done: string[] = []
    for (let i = 0; i < length; i++) {
      const told = await actSomehow(world)
      if (told === undefined) continue
      done.push(told)
      assert.deepEqual(
        await asTheyAre(world),
        asTheyShouldBe(world),
        `POSTHORN_SEED=${seed} account ${number}: ${done.slice(-length).join(' | ')}`,
      )
    }
  }
})
