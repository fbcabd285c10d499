// Which message of ours an incoming one answers. What answers none is the mailbox owner's own and nobody else's.
import type { Db } from '../../../kernel/db.ts'
import { domainOf } from '../../../kernel/email-address.ts'
import { findByMessageIds, type OutreachMessageRow } from '../messages/queries.ts'
import { normalSubject } from '../reading/fold.ts'
import type { IncomingMail } from '../reading/parse-mail.ts'
import { findByDomain, findByRecipient, type ThreadRow } from './match-queries.ts'

export type Match = {
  sequenceId: string | null
  prospectId: string | null
  /** Which one wrote. */
  mailboxId: string
  /** Whom we wrote to; not always who answers. */
  recipient: string
  how: 'thread' | 'address' | 'domain'
}

export const says: Record<Match['how'], string> = {
  thread: 'in the thread',
  address: 'from an address that was written to',
  domain: 'weak: from the same company, with the same subject',
}

const dayMs = 24 * 3_600_000
export const rememberedMs = 90 * dayMs

type Into = { accountId: string; mailboxId: string; at: Date }

export async function matchThread(db: Db, into: Into, mail: IncomingMail): Promise<Match | undefined> {
  for (const ids of [mail.inReplyTo, [...mail.references].reverse()]) {
    const found = ids.length > 0 ? await findByMessageIds(db, into.accountId, ids) : []
    const first = ids.map((id) => found.find((one) => isNamed(one, id))).find(Boolean)
    if (first) return matchOf(first, 'thread')
  }
  if (mail.from === null) return undefined
  const wanted = { ...into, since: new Date(into.at.getTime() - rememberedMs) }
  const written = await findByRecipient(db, wanted, mail.from)
  if (written) return matchOf(written, 'address')
  const domain = domainOf(mail.from)
  const subject = normalSubject(mail.subject)
  if (subject === '' || sharedDomains.has(domain)) return undefined
  const near = (await findByDomain(db, wanted, domain)).find((one) => normalSubject(one.subject) === subject)
  return near && matchOf(near, 'domain')
}

const isNamed = ({ message_id, final_message_id }: OutreachMessageRow, id: string) =>
  message_id === id || final_message_id === id

const matchOf = (found: ThreadRow, how: Match['how']): Match => ({
  sequenceId: found.sequence_id,
  prospectId: found.prospect_id,
  mailboxId: found.mailbox_id,
  recipient: found.recipient,
  how,
})

// Two people there have nothing to do with each other.
const sharedDomains = new Set(
  (
    'gmail.com googlemail.com outlook.com outlook.fr hotmail.com hotmail.fr live.com live.fr msn.com yahoo.com ' +
    'yahoo.fr yahoo.de yahoo.es yahoo.it icloud.com me.com mac.com aol.com proton.me protonmail.com gmx.de ' +
    'gmx.net gmx.com web.de ' +
    't-online.de freenet.de orange.fr wanadoo.fr free.fr sfr.fr laposte.net bbox.fr neuf.fr libero.it tiscali.it ' +
    'virgilio.it alice.it tim.it terra.es telefonica.net mail.com zoho.com yandex.com mail.ru qq.com 163.com ' +
    'fastmail.com'
  ).split(' '),
)
