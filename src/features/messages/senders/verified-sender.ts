// Whose addresses these are: one is the account's when its domain serves the account, or when a code proved it.
import type { Caller, Ctx } from '../../../kernel/ctx.ts'
import type { Db } from '../../../kernel/db.ts'
import { type Address, domainOf } from '../../../kernel/email-address.ts'
import type { Refusal } from '../../../kernel/refusal.ts'
import { invalidParameter } from '../../../kernel/refusals.ts'
import { senderUnverified } from '../../accounts/usage/refusals.ts'
import { servedDomains } from '../../domains/domain-states.ts'
import { findProven, findSender, type SenderRef } from './queries.ts'

const nameOf = ({ accountId, email }: SenderRef) => `${accountId} ${email}`

/** Tells of each address whether it is the account's, in two statements for all of them. */
export async function verifiedSenders(db: Db, refs: SenderRef[]): Promise<(ref: SenderRef) => boolean> {
  const asked = [...new Map(refs.map(lowered).map((ref) => [nameOf(ref), ref])).values()]
  const domainRef = ({ accountId, email }: SenderRef) => ({ accountId, domain: domainOf(email) })
  const serves = await servedDomains(db, asked.map(domainRef))
  const isServed = (ref: SenderRef) => serves(domainRef(ref))
  const others = asked.filter((ref) => !isServed(ref))
  const rows = others.length > 0 ? await findProven(db, others) : []
  const proven = new Set(rows.map(({ account_id, email }) => nameOf({ accountId: account_id, email })))
  return (ref) => isServed(ref) || proven.has(nameOf(lowered(ref)))
}

const lowered = ({ accountId, email }: SenderRef) => ({ accountId, email: email.toLowerCase() })

/** Where the account asks for it. */
export async function refuseUnverified(db: Db, caller: Caller, email: string): Promise<void> {
  if (!caller.verifiedSenderOnly) return
  const ref = { accountId: caller.accountId, email }
  if (!(await verifiedSenders(db, [ref]))(ref)) throw unverifiedRefusal(email)
}

export function unverifiedRefusal(email: string): Refusal {
  return senderUnverified({
    message: `${email} is neither on a verified domain of this account nor one of its active senders.`,
    param: 'from',
    hint: 'Declare and verify the domain, or add the address under /v3/senders and validate it.',
    action: {
      operation: 'domain.declare',
      method: 'POST',
      path: '/api/v1/domains',
      scope: 'domain.write',
      body: { domain: domainOf(email) },
    },
  })
}

/** The sender of this number, which must be active. */
export async function readNumberedSender(ctx: Ctx, id: number): Promise<Address> {
  const { accountId } = ctx.caller
  const isNumber = Number.isSafeInteger(id) && id > 0
  const found = isNumber ? await findSender(ctx.db, accountId, id) : undefined
  const param = 'sender'
  if (!found) throw invalidParameter({ message: `There is no sender ${id}.`, param })
  const { email, name } = found
  const isActive =
    found.is_proven || (await verifiedSenders(ctx.db, [{ accountId, email }]))({ accountId, email })
  if (!isActive) throw invalidParameter({ message: `Sender ${id} is not active: validate it first.`, param })
  return { email, name }
}
