// What still stands against writing to an address that was taken off the list, each with what lifts it.
import type { Ctx } from '../../kernel/ctx.ts'
import { domainOf } from '../../kernel/email-address.ts'
import type { Action } from '../../kernel/refusal.ts'
import { countBlockedSenders } from './blocked-sender-queries.ts'
import { blockedDomain, blockedSender, findSuppressed, isUnsubscribed } from './queries.ts'

type Standing = { code: string; message: string; hint?: string; action: Action }

export async function stillStanding({ db, caller }: Ctx, email: string): Promise<Standing[]> {
  const ref = { accountId: caller.accountId, email }
  const found = await findSuppressed(db, [ref])
  const { count } = await countBlockedSenders(db, ref)
  return [
    ...((await isUnsubscribed(db, ref)) ? [unsubscribed(email)] : []),
    ...(found.some(({ reason }) => reason === blockedDomain) ? [ofBlockedDomain(email)] : []),
    ...(count > 0 ? [blockedFor(email, count)] : []),
  ]
}

const unsubscribed = (email: string): Standing => ({
  code: 'contact_unsubscribed',
  message: `The contact ${email} is still unsubscribed: campaigns and automations do not write to it.`,
  ...resubscribing(email),
})

const ofBlockedDomain = (email: string): Standing => ({
  code: blockedDomain,
  message: `${email} is still not written to: the domain ${domainOf(email)} is blocked.`,
  action: unblockingDomain(domainOf(email)),
})

const blockedFor = (email: string, count: number): Standing => ({
  code: blockedSender,
  message: `${email} is still blocked for transactional messages of ${count === 1 ? '1 sender' : `${count} senders`}.`,
  hint: 'Unblock it only if the person asked for that.',
  action: {
    operation: 'blocked_contact.delete',
    method: 'DELETE',
    path: `/v3/smtp/blockedContacts/${encodeURIComponent(email)}`,
    scope: 'contacts.write',
  },
})

export const resubscribing = (email: string): { hint: string; action: Action } => ({
  hint: 'Subscribe it again only if the person asked for that.',
  action: {
    operation: 'contact.resubscribe',
    method: 'POST',
    path: `/v3/contacts/${encodeURIComponent(email)}/resubscribe`,
    scope: 'contacts.write',
  },
})

export const unblockingDomain = (domain: string): Action => ({
  operation: 'blocked_domain.delete',
  method: 'DELETE',
  path: `/v3/smtp/blockedDomains/${encodeURIComponent(domain)}`,
  scope: 'contacts.write',
})
