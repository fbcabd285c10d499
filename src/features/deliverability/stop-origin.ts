// Nobody of an origin gets campaigns any more. What they asked for themselves, such as a receipt, still reaches them.
import { type Static, Type } from 'typebox'
import type { Ctx } from '../../kernel/ctx.ts'
import { newUuid } from '../../kernel/id.ts'
import type { Refusal } from '../../kernel/refusal.ts'
import { confirmationRequired, invalidParameter, notFound } from '../../kernel/refusals.ts'
import { closed, orNull } from '../../kernel/schema.ts'
import { insertChanges } from '../contacts/contacts/trail-queries.ts'
import { countSubscribed, findImport, hasSubscribed, type Origin, unsubscribeSome } from './origin-queries.ts'

export const OriginBody = closed({
  consent_source: Type.Optional(
    orNull(Type.String({ minLength: 1, maxLength: 1_000, description: 'null: no consent is recorded' })),
  ),
  import_id: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
  confirm: Type.Optional(Type.Boolean()),
})

// What one transaction changes without keeping others waiting.
const most = 5_000

export async function stopOrigin(ctx: Ctx, body: Static<typeof OriginBody>) {
  const origin = await readOrigin(ctx, body)
  if (body.confirm !== true) throw await unconfirmed(ctx, origin)
  const { accountId } = ctx.caller
  const stopped = await unsubscribeSome(ctx.db, accountId, { origin, most, at: ctx.now })
  const changes = stopped.map(({ contact_id }) => ({
    id: newUuid(),
    contact_id,
    attribute: 'STATUS',
    old_value: 'subscribed',
    new_value: 'unsubscribed',
  }))
  await insertChanges(ctx.db, { accountId, at: ctx.now, source: 'origin stopped' }, changes)
  const isMore = stopped.length === most && (await hasSubscribed(ctx.db, accountId, origin))
  return { unsubscribed: stopped.length, is_complete: !isMore }
}

const mostCounted = 100_000

async function unconfirmed(ctx: Ctx, origin: Origin): Promise<Refusal> {
  const count = await countSubscribed(ctx.db, ctx.caller.accountId, origin, mostCounted + 1)
  const many = count > mostCounted ? `More than ${mostCounted}` : String(count)
  const contacts = count === 1 ? '1 contact' : `${many} contacts`
  const next = 'this cannot be undone: send "confirm": true to go ahead.'
  return confirmationRequired({
    message: `Nobody was unsubscribed. ${contacts} would be, and ${next}`,
    param: 'confirm',
  })
}

async function readOrigin(
  ctx: Ctx,
  { consent_source, import_id }: Static<typeof OriginBody>,
): Promise<Origin> {
  if ((consent_source === undefined) === (import_id === undefined))
    throw invalidParameter({ message: 'Give either consent_source or import_id.', param: 'consent_source' })
  if (import_id === undefined) return { source: consent_source ?? null }
  const found = await findImport(ctx.db, ctx.caller.accountId, import_id)
  if (!found)
    throw notFound({
      message: `There is no import ${import_id}.`,
      param: 'import_id',
      hint: 'GET /v3/processes lists the imports.',
    })
  return { importId: String(import_id) }
}
