// Whose addresses these are: one is the account's when its domain serves the account, or when a code proved it.
import type { Caller, Ctx } from '../../../kernel/ctx.ts'
import type { Db } from '../../../kernel/db.ts'
import { type Address, domainOf } from '../../../kernel/email-address.ts'
import type { Refusal, Told } from '../../../kernel/refusal.ts'
import { invalidParameter } from '../../../kernel/refusals.ts'
import { senderUnverified } from '../../accounts/usage/refusals.ts'
import { declaring } from '../../domains/declarable.ts'
import { findDomainState, servedDomains } from '../../domains/domain-states.ts'
import { findInactive, findProven, findSender, type InactiveSender, type SenderRef } from './queries.ts'

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
  if (!(await verifiedSenders(db, [ref]))(ref)) throw await unverifiedRefusal(db, ref)
}

/** The message alone tells what to do, too: answers of /v3 and of the relay have nothing else. */
export async function unverifiedRefusal(db: Db, ref: SenderRef): Promise<Refusal> {
  return senderUnverified({ param: 'from', ...(await stillToDo(db, ref)) })
}

type WayOut = Pick<Told, 'message' | 'hint' | 'action'>

const scope = 'domain.write'

async function stillToDo(db: Db, { accountId, email }: SenderRef): Promise<WayOut> {
  const domain = domainOf(email)
  const body = { domain }
  const others = `nor is ${email} one of its active senders`
  if (await findDomainState(db, accountId, domain))
    return {
      message: `The domain ${domain} is declared in this account but not verified, ${others}.`,
      hint: `${domain} is declared, not verified: publish the records that domain.dns shows, then verify it.`,
      action: { operation: 'domain.verify', method: 'POST', path: '/api/v1/domains/verify', scope, body },
    }
  const sender = await findInactive(db, lowered({ accountId, email }))
  const message = `The domain ${domain} is not declared in this account, ${others}.`
  if (sender) return { message, ...(sender.has_code ? enteringCode(sender) : askingForCode(sender)) }
  const action = declaring(domain)
  const orSender = 'or add the address under /v3/senders and validate it.'
  if (!action) return { message, hint: `Send from a domain of your own, ${orSender}` }
  const request = `${action.method} ${action.path} with ${JSON.stringify(action.body)}`
  return {
    message: `${message} ${request} declares it.`,
    hint: `Declare the domain, publish the DNS records of the answer and verify it, ${orSender}`,
    action,
  }
}

function enteringCode({ id, email }: InactiveSender): Omit<WayOut, 'message'> {
  const path = `/v3/senders/${id}/validate`
  return {
    hint: `${email} is a sender that waits for its code: send {"otp": the code that was mailed to it}.`,
    action: { operation: 'sender.validate', method: 'PUT', path, scope },
  }
}

/** None was mailed while its domain spoke for it, or it was tried too often, or is too old. */
function askingForCode({ id, email }: InactiveSender): Omit<WayOut, 'message'> {
  const path = `/v3/senders/${id}`
  return {
    hint: `${email} is a sender without a code to enter: this request mails one to it, for PUT ${path}/validate.`,
    action: { operation: 'sender.update', method: 'PUT', path, scope, body: { email } },
  }
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
