// The person confirms: only now they become a contact, with the consent that this is.
import { isIP } from 'node:net'
import type { Db } from '../../../kernel/db.ts'
import { listAttributes } from '../../contacts/attributes/queries.ts'
import { readValue } from '../../contacts/attributes/values.ts'
import { findContact } from '../../contacts/contacts/queries.ts'
import { createContact } from '../../contacts/contacts/write-contact.ts'
import { holdLists } from '../../contacts/lists/queries.ts'
import { readStanding, returnToLists } from '../../contacts/unsubscribe/unsubscribe.ts'
import { findOptin, lockOptin, markConfirmed, type OptinRow } from './queries.ts'
import type { OptinToken } from './tokens.ts'

const source = 'double opt-in'

/** How long a link works; then its row is deleted. */
export const optinKeptMs = 30 * 86_400_000

export async function readOptin(db: Db, token: OptinToken, now: Date): Promise<OptinRow | undefined> {
  const found = await findOptin(db, token)
  return found && !isOver(found, now) ? found : undefined
}

const isOver = ({ created_at }: OptinRow, now: Date) => now.getTime() - created_at.getTime() > optinKeptMs

/**
 * What was confirmed is still so: the person is a contact, nothing stops their mail, and they have not left the lists
 * themselves. That the customer moved them to another list is no end.
 */
export async function isStillOn(db: Db, { accountId }: OptinToken, optin: OptinRow): Promise<boolean> {
  const standing = await readStanding(db, { accountId, email: optin.email })
  if (!standing?.isKnown || standing.isUnsubscribedFromAll) return false
  const confirmed = standing.lists.filter(({ id }) => optin.include_list_ids.includes(id))
  return confirmed.length === 0 || confirmed.some(({ is_member }) => is_member)
}

export type Confirmation = { at: Date; ip: string }

/** Again and again with one effect. Nothing when the link is no longer valid. */
export function confirmOptin(
  db: Db,
  token: OptinToken,
  { at, ip }: Confirmation,
): Promise<OptinRow | undefined> {
  return db.transaction(async (tx) => {
    const found = await lockOptin(tx, token)
    if (!found || isOver(found, at)) return undefined
    if (found.confirmed_at !== null) return found
    const person = { accountId: token.accountId, email: found.email }
    await returnToLists(tx, person, at, found.include_list_ids)
    const caller = { accountId: token.accountId, keyId: found.key_id, mode: found.mode }
    await createContact(
      { db: tx, now: at, caller, source },
      {
        email: found.email,
        attributes: await attributesOf(tx, token.accountId, found),
        listIds: await stillThere(tx, token.accountId, found.include_list_ids),
        unlinkListIds: await stillThere(tx, token.accountId, found.exclude_list_ids),
        updateEnabled: true,
        consentDate: at.toISOString(),
        consentSource: source,
        // What a proxy says may be no address.
        ...(isIP(ip) === 0 ? {} : { consent_ip: ip }),
      },
    )
    await markConfirmed(tx, token, at, ip)
    return found
  })
}

/** Without what can no longer be set: the person's consent must not fail over it. */
async function attributesOf(db: Db, accountId: string, { email, attributes }: OptinRow) {
  const { SMS: sms, ...others } = attributes
  const known = new Map((await listAttributes(db, accountId)).map((one) => [one.name, one]))
  const settable = Object.entries(others).filter(([name, value]) => {
    const attribute = known.get(name)
    return attribute && !('fault' in readValue(attribute, value))
  })
  const holder = typeof sms === 'string' ? await findContact(db, accountId, { sms }) : undefined
  const isFree = sms !== undefined && (!holder || holder.email === email)
  return { ...Object.fromEntries(settable), ...(isFree ? { SMS: sms } : {}) }
}

async function stillThere(db: Db, accountId: string, ids: string[]): Promise<number[]> {
  return (await holdLists(db, accountId, ids)).map(({ id }) => Number(id))
}
