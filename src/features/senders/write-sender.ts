// Declaring, changing and deleting the addresses that an account sends from by number.
import { type Static, Type } from 'typebox'
import type { Ctx } from '../../kernel/ctx.ts'
import { isUniqueViolation } from '../../kernel/db.ts'
import { domainOf, readAddress } from '../../kernel/email-address.ts'
import { refusal } from '../../kernel/refusal.ts'
import { invalidParameter, missingParameter, notFound } from '../../kernel/refusals.ts'
import { closed } from '../../kernel/schema.ts'
import { given, oneLine, optional } from '../../kernel/v3/lenient.ts'
import { verifiedSenders } from '../messages/senders/verified-sender.ts'
import { type CodeNeeds, mailCode } from './codes.ts'
import {
  deleteSender,
  insertSender,
  listSenders,
  lockSender,
  type SenderRef,
  type SenderRow,
  updateSender,
} from './queries.ts'

export const SenderBody = closed({
  name: Type.Optional(Type.String({ maxLength: 1_000 })),
  email: Type.Optional(Type.String({ maxLength: 320 })),
  ips: optional(Type.Array(Type.Unknown(), { description: 'Ignored: there are no dedicated addresses' })),
})

export type SenderBody = Static<typeof SenderBody>

export const senderTwice = refusal({
  code: 'duplicate_parameter',
  kind: 'invalid',
  message: 'There is already a sender of this name and address',
})

const longestName = 200

export const senderRef = ({ caller }: Ctx, id: number): SenderRef => ({ accountId: caller.accountId, id })

export const senderUnknown = () => notFound({ message: 'Sender ID does not exist', param: 'senderId' })

export async function createSender(ctx: Ctx, body: SenderBody, needs: CodeNeeds) {
  const [name, email] = [readName(body), readEmail(body)]
  if (name === undefined) throw missingParameter({ message: 'name is missing', param: 'name' })
  if (email === undefined) throw missingParameter({ message: 'email is missing', param: 'email' })
  const made = await insertSender(ctx.db, ctx.caller.accountId, { name, email, at: ctx.now })
  if (!made) throw senderTwice()
  await mailUnlessActive(ctx, needs, Number(made.id))
  return { id: Number(made.id), email }
}

/** Naming the address of a sender that is not active asks for a new code, also when it stays the same. */
export async function changeSender(ctx: Ctx, id: number, body: SenderBody, needs: CodeNeeds): Promise<void> {
  const [name, email] = [readName(body), readEmail(body)]
  if (name === undefined && email === undefined && !body.ips)
    throw missingParameter({ message: 'Either of name or email is required', param: 'name' })
  const found = await lockSender(ctx.db, senderRef(ctx, id))
  if (!found) throw senderUnknown()
  await updateSender(ctx.db, senderRef(ctx, id), {
    name: name ?? found.name,
    email: email ?? found.email,
  }).catch((error) => {
    throw isUniqueViolation(error, 'senders_named') ? senderTwice() : error
  })
  if (email !== undefined) await mailUnlessActive(ctx, needs, id)
}

export async function removeSender(ctx: Ctx, id: number): Promise<void> {
  if ((await deleteSender(ctx.db, senderRef(ctx, id))) === 0) throw senderUnknown()
}

async function mailUnlessActive(ctx: Ctx, needs: CodeNeeds, id: number): Promise<void> {
  const [sender] = await activeOf(ctx, await listSenders(ctx.db, ctx.caller.accountId, { id }))
  if (sender && !sender.active) await mailCode(ctx, needs, senderRef(ctx, id), sender.email)
}

export type ActiveSender = SenderRow & { active: boolean }

export async function activeOf({ db, caller }: Ctx, senders: SenderRow[]): Promise<ActiveSender[]> {
  const refOf = ({ email }: SenderRow) => ({ accountId: caller.accountId, email })
  const isVerified = await verifiedSenders(db, senders.map(refOf))
  return senders.map((one) => ({ ...one, active: one.is_proven || isVerified(refOf(one)) }))
}

function readName({ name }: SenderBody): string | undefined {
  const read = given(oneLine(name ?? ''))
  if (read === undefined || read.length <= longestName) return read
  throw invalidParameter({ message: `name must have at most ${longestName} characters`, param: 'name' })
}

function readEmail({ email }: SenderBody): string | undefined {
  if (given(email) === undefined) return undefined
  const read = readAddress({ email: email ?? '' })
  if ('fault' in read) throw invalidParameter({ message: 'valid sender email required', param: 'email' })
  return `${read.email.slice(0, read.email.lastIndexOf('@'))}@${domainOf(read.email)}`
}
