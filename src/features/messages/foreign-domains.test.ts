import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import { sql } from '../../kernel/sql.ts'
import { deliverThrough } from './fixtures/engine.ts'
import { taken, upstream } from './fixtures/scripted-upstream.ts'
import { sendingWith } from './fixtures/sending.ts'
import { foreignDomains } from './senders/foreign-domain.ts'

const app = await makeApp({ env: { POSTHORN_RATE_LIMIT_FACTOR: '100' } })
const { db } = app.pools

const sending = sendingWith(app)
const send = async (to: string, from: string): Promise<string> => (await sending.send({ to, from })).body.id
const reaches = (id: string, status: string) => sending.settled(id, [status])

describe('an upstream that signs', () => {
  const verify = (accountId: string, domain: string) =>
    db.run(sql`
      insert into domains (account_id, domain, token, status, verified_at, next_check_at, created_at)
      values (${accountId}, ${domain}, 'token', 'verified', now(), now(), now())`)

  test('gets nothing from an account on a domain that is verified for another one alone', async () => {
    const other = await app.makeAccount()
    await verify(other.accountId, 'theirs.example')
    await verify(other.accountId, 'both.example')
    await verify(app.accountId, 'both.example')
    await db.run(sql`
      insert into senders (account_id, name, email, proven_at, created_at)
      values (${app.accountId}, 'Me', 'me@theirs.example', now(), now())`)
    const transport = upstream(() => taken)
    const stop = deliverThrough({ db, transport, isForeign: foreignDomains(db), retryFactor: 0.0005 })
    const long = `${'a'.repeat(60)}.`.repeat(3)
    const foreign = [
      'CEO@Theirs.example',
      'ceo@mail.theirs.example',
      `ceo@${long}${'b'.repeat(40)}.theirs.example`,
    ]
    const held = await Promise.all(foreign.map((from) => send('held@example.com', from)))
    for (const from of ['a@both.example', 'a@mail.both.example', 'Me@theirs.example', 'a@nobodys.example'])
      await reaches(await send('taken@example.com', from), 'sent')
    for (const id of held) {
      const { held_reason } = await reaches(id, 'held')
      assert.match(held_reason, /signs for the domain of .*theirs.example, which is not this account's/)
    }
    assert.ok(transport.asked.every((to) => to === 'taken@example.com'))
    await verify(app.accountId, 'theirs.example')
    for (const id of held) await reaches(id, 'sent')
    await stop()
  })

  test('gets nothing more from the account that a domain belonged to, once another one proves it', async () => {
    const other = await app.makeAccount()
    const unproven = (domain: string, hours: number) =>
      db.run(sql`
        update domains
           set status = 'failed', checked_at = now(), unproven_since = now() - make_interval(hours => ${hours})
         where account_id = ${app.accountId} and domain = ${domain}`)
    for (const domain of ['sold.example', 'wrong-answer.example', 'nobodys-now.example'])
      await verify(app.accountId, domain)
    for (const domain of ['sold.example', 'wrong-answer.example']) await verify(other.accountId, domain)
    await unproven('sold.example', 73)
    await unproven('wrong-answer.example', 71)
    await unproven('nobodys-now.example', 73)
    const transport = upstream(() => taken)
    const stop = deliverThrough({ db, transport, isForeign: foreignDomains(db), retryFactor: 0.0005 })
    const held = await send('held@example.com', 'a@sold.example')
    for (const from of ['a@wrong-answer.example', 'a@nobodys-now.example'])
      await reaches(await send('taken@example.com', from), 'sent')
    const { held_reason } = await reaches(held, 'held')
    assert.match(held_reason, /signs for the domain of .*sold.example, which is not this account's/)
    assert.deepEqual(transport.asked, ['taken@example.com', 'taken@example.com'])
    await db.run(sql`update domains set unproven_since = null where account_id = ${app.accountId}`)
    await reaches(held, 'sent')
    await stop()
  })
})
