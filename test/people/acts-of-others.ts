// What mailboxes say, what people confirm, and who is erased.
import { insertOptout } from '../../src/features/sms/queries.ts'
import { type Reason, suppress } from '../../src/features/suppressions/suppressions.ts'
import { confirmOptin } from '../../src/features/transactional/double-optin/confirm-optin.ts'
import { insertOptin } from '../../src/features/transactional/double-optin/queries.ts'
import { newUuid } from '../../src/kernel/id.ts'
import * as model from './model.ts'
import * as many from './model-of-many.ts'
import { type Act, both, call, emails, phones } from './world.ts'

export const judge =
  (reason: Reason, what: Partial<model.Stops>): Act =>
  async ({ known, dice, accountId, app }) => {
    const email = dice.pick(emails)
    const why = { reason, source: 'test', messageId: null, at: new Date() }
    await suppress(app.pools.db, { accountId, email }, why)
    model.stop(known, email, what)
    return `${reason} ${email}`
  }

export const liftBounces: Act = (world) =>
  both(
    world,
    'lift bounces',
    () => {
      for (const email of emails) model.lift(world.known, email, 'bounce')
    },
    () => call(world, 'POST', '/v3/smtp/deleteHardbounces', {}),
  )

export const sayStop: Act = async ({ known, dice, accountId, app }) => {
  const phone = dice.pick(phones)
  await insertOptout(app.pools.db, { accountId, phone, reason: 'stop', at: new Date() })
  many.sayStop(known, phone)
  return `STOP ${phone}`
}

export const confirm: Act = async ({ known, dice, lists, accountId, app }) => {
  const [email, list] = [dice.pick(emails), dice.pick(lists)]
  const { manual, bounce, complaint, erased } = model.stopsOf(known, email)
  // Nobody is asked then.
  if (manual !== '' || bounce || complaint || erased) return undefined
  const { db } = app.pools
  const token = { accountId, id: newUuid() }
  await insertOptin(db, {
    ...token,
    email,
    attributes: {},
    include_list_ids: [String(list)],
    exclude_list_ids: [],
    redirect_url: 'https://shop.example/',
    key_id: newUuid(),
    created_at: new Date(),
  })
  await confirmOptin(db, token, { at: new Date(), ip: '192.0.2.1' })
  many.confirm(known, email, list)
  return `confirm ${email} ${list}`
}

export const erase: Act = (world) => {
  const email = world.dice.pick(emails)
  const body = { email, confirm: true }
  return both(
    world,
    `erase ${email}`,
    () => many.erase(world.known, email),
    () => call(world, 'POST', '/api/v1/contacts/erase', body),
  )
}
