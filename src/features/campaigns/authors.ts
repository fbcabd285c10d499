// Mail about a campaign to those who made it.
import type { Ctx } from '../../kernel/ctx.ts'
import type { Address } from '../../kernel/email-address.ts'
import { Refusal } from '../../kernel/refusal.ts'
import { invalidParameter, missingParameter } from '../../kernel/refusals.ts'
import { type Outgoing, queueMessages } from '../messages/queue-messages.ts'
import { findSuppressed } from '../suppressions/queries.ts'
import { distinct, readMailboxes } from '../transactional/v3/addresses.ts'

/** Each address once; refuses those that may not be written to. */
export async function readAuthors(
  ctx: Ctx,
  emails: string[],
  { param, most }: { param: string; most: number },
): Promise<Address[]> {
  const mailboxes = emails.map((email) => ({ email }))
  const authors = distinct(readMailboxes(mailboxes, param))
  if (authors.length === 0) throw missingParameter({ message: `${param} is missing`, param })
  if (authors.length > most)
    throw invalidParameter({ message: `${param} must have at most ${most} entries`, param })
  await refuseSuppressed(ctx, authors, param)
  return authors
}

async function refuseSuppressed({ db, caller }: Ctx, authors: Address[], param: string): Promise<void> {
  const refs = authors.map(({ email }) => ({ accountId: caller.accountId, email: email.toLowerCase() }))
  const blackListedEmails = (await findSuppressed(db, refs)).map(({ email }) => email)
  if (blackListedEmails.length === 0) return
  throw invalidParameter({
    message: `On the suppression list: ${blackListedEmails.join(', ')}`,
    param,
    fields: { unexistingEmails: [], withoutListEmails: [], blackListedEmails },
  })
}

/** All of them or none. */
export async function writeToAuthors({ db }: Ctx, messages: Outgoing[]): Promise<void> {
  const results = await queueMessages(db, messages, 'together')
  const refused = results.find((result) => result instanceof Refusal)
  if (refused) throw refused
}
