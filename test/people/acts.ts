// What callers, people and mailboxes do, to the service and to the model alike.
import { workImports } from '../../src/features/contacts/import/work-imports.ts'
import { keys } from '../../src/features/contacts/unsubscribe/fixtures/people.ts'
import { writeUnsubscribeToken } from '../../src/features/contacts/unsubscribe/tokens.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { confirm, erase, judge, liftBounces, sayStop } from './acts-of-others.ts'
import * as model from './model.ts'
import * as many from './model-of-many.ts'
import { type Act, both, call, emails, extIds, phones, some, type World } from './world.ts'

function anyChange(world: World, howNamed: number): model.Change {
  const { dice, lists } = world
  return {
    email: some(world, emails, howNamed),
    ext: some(world, extIds, 0.3),
    sms: some(world, phones, 0.3),
    blacklisted: some(world, [true, false], 0.25),
    smsBlacklisted: some(world, [true, false], 0.2),
    listIds: dice.chance(0.4) ? [dice.pick(lists)] : [],
  }
}

const bodyOf = ({
  ext,
  sms,
  blacklisted,
  smsBlacklisted,
  listIds = [],
  unlinkListIds = [],
}: model.Change) => ({
  ext_id: ext,
  emailBlacklisted: blacklisted,
  smsBlacklisted,
  listIds,
  unlinkListIds,
  ...(sms === undefined ? {} : { attributes: { SMS: `+${sms}` } }),
})

const createOne: Act = (world) => {
  const change = anyChange(world, 0.8)
  const updateEnabled = world.dice.chance(0.5)
  const body = { ...bodyOf(change), email: change.email?.toUpperCase(), updateEnabled }
  return both(
    world,
    `create ${JSON.stringify(body)}`,
    () => model.create(world.known, change, updateEnabled),
    () => call(world, 'POST', '/v3/contacts', body),
  )
}

const nameOf = ({ email, ext, sms }: model.Contact) =>
  email !== null ? email : ext !== null ? `${ext}?identifierType=ext_id` : `${sms}?identifierType=phone_id`

const putOne: Act = async (world) => {
  const { known, dice, lists } = world
  if (known.contacts.length === 0) return undefined
  const place = dice.below(known.contacts.length)
  const contact = known.contacts[place] as model.Contact
  const change = { ...anyChange(world, 0.4), unlinkListIds: dice.chance(0.2) ? [dice.pick(lists)] : [] }
  // What becomes of what was told about an erased one is another story.
  if (contact.email !== null && model.stopsOf(known, contact.email).erased) change.email = undefined
  const { attributes, ...rest } = bodyOf(change)
  const body = { ...rest, attributes: { ...attributes, ...(change.email && { EMAIL: change.email }) } }
  const name = nameOf(contact)
  return both(
    world,
    `put ${name} ${JSON.stringify(body)}`,
    () => model.put(known, known.contacts[place] as model.Contact, change),
    () => call(world, 'PUT', `/v3/contacts/${name}`, body),
  )
}

const removeOne: Act = (world) => {
  const { known, dice } = world
  if (known.contacts.length === 0) return Promise.resolve(undefined)
  const contact = dice.pick(known.contacts)
  const name = nameOf(contact)
  const remove = () => model.remove(known, contact)
  return both(world, `delete ${name}`, remove, () => call(world, 'DELETE', `/v3/contacts/${name}`))
}

const importSome: Act = async (world) => {
  const { known, dice, lists, app } = world
  const rules = {
    listIds: dice.chance(0.6) ? [dice.pick(lists)] : [],
    blacklist: dice.chance(0.15),
    isConsented: dice.chance(0.3),
  }
  const rows = Array.from({ length: 1 + dice.below(2) }, () => ({
    email: some(world, emails, 0.8),
    ext: some(world, extIds, 0.4),
    sms: some(world, phones, 0.3),
  })).filter(({ email, ext, sms }) => email ?? ext ?? sms)
  if (rows.length === 0) return undefined
  const [row] = rows as [many.ImportRow]
  const consentDate = rules.isConsented ? new Date().toISOString() : undefined
  const jsonBody = [{ email: row.email, ext_id: row.ext, sms: row.sms, consentDate }]
  const body = { jsonBody, listIds: rules.listIds, emailBlacklist: rules.blacklist }
  const told = await both(
    world,
    `import ${JSON.stringify(body)}`,
    () => many.importRow(known, row, rules),
    () => call(world, 'POST', '/v3/contacts/import', body),
  )
  const outside = { fetchFile: async () => Promise.reject(new Error('no file')), notify: async () => {} }
  await workImports({ db: app.pools.db, log: silentLog, ...outside }, new Date(Date.now() + 1_000))
  return told
}

async function page(world: World, name: string, email: string, form: string) {
  const token = writeUnsubscribeToken(keys, { accountId: world.accountId, email })
  const headers = { 'content-type': 'application/x-www-form-urlencoded' }
  return world.app.call('POST', `/${name}/${token}`, { key: null, headers, raw: form })
}

const leave: Act = (world) => {
  const email = world.dice.pick(emails)
  const form = 'List-Unsubscribe=One-Click'
  return both(
    world,
    `leave ${email}`,
    () => model.leave(world.known, email),
    () => page(world, 'u', email, form),
  )
}

const undo: Act = (world) => {
  const email = world.dice.pick(emails)
  return both(
    world,
    `undo ${email}`,
    () => model.undo(world.known, email),
    () => page(world, 'u', email, 'undo=1'),
  )
}

const leaveList: Act = (world) => {
  const [email, list] = [world.dice.pick(emails), world.dice.pick(world.lists)]
  const act = () => model.leaveList(world.known, email, list)
  return both(world, `leave list ${list} ${email}`, act, () =>
    page(world, 'preferences', email, `shown=${list}`),
  )
}

const rejoinList: Act = (world) => {
  const [email, list] = [world.dice.pick(emails), world.dice.pick(world.lists)]
  const act = () => model.rejoinList(world.known, email, list)
  const form = `shown=${list}&list=${list}`
  return both(world, `rejoin list ${list} ${email}`, act, () => page(world, 'preferences', email, form))
}

const suppressByHand: Act = (world) => {
  const email = world.dice.pick(emails)
  const act = () => model.stop(world.known, email, { manual: 'api' })
  return both(world, `suppress ${email}`, act, () => call(world, 'POST', '/api/v1/suppressions', { email }))
}

const liftAll: Act = (world) => {
  const { known, dice } = world
  const email = dice.pick(emails)
  const act = () => {
    const stops = model.stopsOf(known, email)
    if (stops.erased || !model.isStopped(stops)) throw new model.Refused()
    model.lift(known, email, 'all')
  }
  return both(world, `lift ${email}`, act, () => call(world, 'DELETE', `/api/v1/suppressions/${email}`))
}

const resubscribe: Act = (world) => {
  const { known, dice } = world
  const email = dice.pick(emails)
  const act = () => {
    const contact = model.holderOf(known, email)
    if (!contact || model.stopsOf(known, email).erased) throw new model.Refused()
    model.changeStatus(contact, 'subscribed', 'api')
    model.lift(known, email, 'all')
  }
  return both(world, `resubscribe ${email}`, act, () =>
    call(world, 'POST', `/v3/contacts/${email}/resubscribe`),
  )
}

const weighted: [number, Act][] = [
  [8, createOne],
  [8, putOne],
  [3, removeOne],
  [8, importSome],
  [6, leave],
  [4, undo],
  [4, leaveList],
  [2, rejoinList],
  [3, suppressByHand],
  [3, liftAll],
  [2, resubscribe],
  [4, judge('hard_bounce', { bounce: true })],
  [1, judge('complaint', { complaint: true })],
  [3, liftBounces],
  [2, sayStop],
  [4, confirm],
  [1, erase],
]

/** What was done, in words; nothing where there was nothing to do. */
export function actSomehow(world: World): Promise<string | undefined> {
  const all = weighted.flatMap(([weight, act]) => Array<Act>(weight).fill(act))
  return world.dice.pick(all)(world)
}
