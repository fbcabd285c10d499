import { Type } from 'typebox'
import { refusalsOf } from '../../kernel/collect.ts'
import { operation } from '../../kernel/operation.ts'
import { confirmationRequired } from '../../kernel/refusals.ts'
import { closed, orNull, Time } from '../../kernel/schema.ts'
import { erasePerson, exportPerson, readEmail } from './rights.ts'
import { sources } from './sources.ts'

const area = 'Data-subject rights' as const
const Rows = Type.Array(Type.Object({}))
const Email = Type.String({ maxLength: 320 })

export const exportContactOwn = operation({
  name: 'contact.export',
  http: 'GET /api/v1/contacts/export',
  area,
  summary: 'Everything held about a person, as one document',
  scope: 'contacts.read',
  effect: 'read',
  query: closed({ email: Email }),
  reply: closed({
    email: Type.String(),
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
}).run((ctx, { query }) => exportPerson(ctx, query.email))

const Counts = closed(Object.fromEntries(Object.values(sources).map((name) => [name, Type.Integer()])))

export const eraseContactOwn = operation({
  name: 'contact.erase',
  http: 'POST /api/v1/contacts/erase',
  area,
  summary: 'Delete everything about a person',
  description: 'Only a keyed hash of the address stays, so that nobody writes to it again.',
  scope: 'contacts.write',
  effect: 'irreversible',
  body: closed({ email: Email, confirm: Type.Optional(Type.Boolean()) }),
  findFaults: (_ctx, { email = '' }) => refusalsOf(() => readEmail(email)),
  // The line about the erasure itself must not bring the address back.
  secret: ['email'],
  reply: closed({ erased: Counts, suppressed: Type.Boolean() }),
  refusals: [confirmationRequired],
}).run(async (ctx, { body }) => {
  const email = readEmail(body.email)
  if (body.confirm !== true)
    throw confirmationRequired({
      param: 'confirm',
      hint: 'contact.export shows what there is about the person.',
    })
  return { erased: await erasePerson(ctx, email), suppressed: true }
})
