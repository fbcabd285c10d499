import { type Static, Type } from 'typebox'
import { refusalsOf } from '../../kernel/collect.ts'
import { operation } from '../../kernel/operation.ts'
import { confirmationRequired, notFound } from '../../kernel/refusals.ts'
import { closed, orNull, Time } from '../../kernel/schema.ts'
import type { ContactRef } from '../contacts/contacts/queries.ts'
import { readAsked } from './person.ts'
import { erasePerson, exportPerson, findMovedTo } from './rights.ts'
import { sources } from './sources.ts'

const area = 'Data-subject rights' as const
const Rows = Type.Array(Type.Object({}))
const MovedTo = orNull(
  closed(
    { id: Type.Integer(), email: orNull(Type.String()) },
    {
      description:
        'The contact that had this address, or number, and has left it. It is not part of this: where it is the same ' +
        'person, ask for what it has now',
    },
  ),
)
const person = {
  email: Type.Optional(Type.String({ maxLength: 320 })),
  phone: Type.Optional(Type.String({ maxLength: 40, description: 'Of a person without an address' })),
  ext_id: Type.Optional(
    Type.String({ maxLength: 255, description: 'The customer’s own identifier of a contact' }),
  ),
}

export const exportContactOwn = operation({
  name: 'contact.export',
  http: 'GET /api/v1/contacts/export',
  area,
  summary: 'Everything held about a person, as one document',
  description: 'Named by one of `email`, `phone` and `ext_id`.',
  scope: 'contacts.read',
  effect: 'read',
  query: closed(person),
  reply: closed({
    email: orNull(Type.String()),
    phone: orNull(Type.String()),
    moved_to: MovedTo,
    former_addresses: Rows,
    exported_at: Time,
    contact: orNull(Type.Object({})),
    history: Rows,
    consents: Rows,
    lists: Rows,
    left_lists: Rows,
    messages: Rows,
    suppression: orNull(Type.Object({})),
    soft_bounces: Rows,
    blocked_senders: Rows,
    outreach_replies: Rows,
    double_optins: Rows,
    conversions: Rows,
    action_log: Rows,
    custom_events: Rows,
    automation_runs: Rows,
    senders: Rows,
    webhooks: Rows,
    sms: Rows,
    sms_optout: orNull(Type.Object({})),
    prospect: orNull(Type.Object({})),
    enrollments: Rows,
    outreach_messages: Rows,
  }),
  refusals: [notFound],
}).run((ctx, { query }) => exportPerson(ctx, readAsked(query)))

const Counts = closed(Object.fromEntries(Object.values(sources).map((name) => [name, Type.Integer()])))

export const eraseContactOwn = operation({
  name: 'contact.erase',
  http: 'POST /api/v1/contacts/erase',
  area,
  summary: 'Delete everything about a person',
  description:
    'Only a keyed hash of the address and of the telephone number stays, so that nobody writes to them again.',
  scope: 'contacts.write',
  effect: 'irreversible',
  body: closed({ ...person, confirm: Type.Optional(Type.Boolean()) }),
  findFaults: (_ctx, body, faulty) =>
    Object.keys(person).some((name) => faulty.has(name)) ? [] : refusalsOf(() => readAsked(body)),
  // The line about the erasure itself must not bring back who it was.
  secret: ['email', 'phone', 'ext_id'],
  reply: closed({ erased: Counts, suppressed: Type.Boolean(), moved_to: MovedTo }),
  refusals: [confirmationRequired, notFound],
}).run(async (ctx, { body }) => {
  const asked = readAsked(body)
  const movedTo = await findMovedTo(ctx, asked)
  if (body.confirm !== true) throw confirmationRequired({ param: 'confirm', hint: hintFor(asked, movedTo) })
  return { erased: await erasePerson(ctx, asked), suppressed: true, moved_to: movedTo }
})

type MovedTo = Static<typeof MovedTo>

function hintFor(asked: ContactRef, movedTo: MovedTo): string {
  const shown = 'contact.export shows what there is about the person.'
  if (!movedTo) return shown
  const { id, email } = movedTo
  const what = 'sms' in asked ? 'number' : 'address'
  const now = email
    ? `contact ${id} had this ${what}, has ${email} now and`
    : `contact ${id} had this ${what} and`
  return `${shown} Only what hangs on the ${what} goes: ${now} stays. Where it is the same person, erase that one too.`
}
