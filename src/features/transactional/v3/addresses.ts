import { decodeWords } from 'postal-mime'
import type { Ctx } from '../../../kernel/ctx.ts'
import { type Address, readAddress } from '../../../kernel/email-address.ts'
import { invalidParameter, missingParameter } from '../../../kernel/refusals.ts'
import { given, oneLine } from '../../../kernel/v3/lenient.ts'
import { longestName } from '../../messages/model.ts'
import { readNumberedSender } from '../../messages/senders/verified-sender.ts'
import type { Mailbox, SenderGiven, Version } from './send-request.ts'

export function readMailboxes(mailboxes: Mailbox[] | null | undefined, param: string): Address[] {
  return (mailboxes ?? []).map((mailbox) => readMailbox(mailbox, param))
}

function readMailbox(mailbox: Mailbox, param: string): Address {
  if (given(mailbox.email) === undefined) {
    throw missingParameter({ message: `email is missing in ${param}`, param })
  }
  const read = plainAddress(mailbox)
  if (!read) throw invalidParameter({ message: `email is not valid in ${param}`, param })
  refuseLongName(read.name, param)
  return read
}

export function refuseLongName(name: string | undefined, param: string): void {
  if (name === undefined || name.length <= longestName) return
  throw invalidParameter({ message: `name must have at most ${longestName} characters in ${param}`, param })
}

function plainAddress({ email = '', name }: Mailbox): Address | undefined {
  const read = readAddress({ email, name: name === undefined ? undefined : oneLine(decoded(name)) })
  return 'fault' in read ? undefined : read
}

// Of the longest name, in encoded words of letters of three bytes.
const longestEncoded = 8 * longestName

/** Some clients write names as they stand in a header (RFC 2047); encoded again, people would read the code. */
function decoded(name: string): string {
  return name.length <= longestEncoded && name.includes('=?') ? decodeWords(name) : name
}

/** By address, or by number; undefined when none is given. */
export async function readSender(
  ctx: Ctx,
  sender: SenderGiven | null | undefined,
): Promise<Address | undefined> {
  if (!sender) return undefined
  const isNamed = given(sender.email) !== undefined || given(sender.name) !== undefined
  if (given(sender.email) === undefined && sender.id) {
    const numbered = await readNumberedSender(ctx, sender.id)
    return { ...numbered, name: given(oneLine(decoded(sender.name ?? ''))) ?? numbered.name }
  }
  if (!isNamed) return undefined
  const read = plainAddress(sender)
  if (read) return read
  throw invalidParameter({ message: 'valid sender email required', param: 'sender' })
}

/** Some clients send a list of one, some an empty object. */
export function readReplyTo(replyTo: Version['replyTo']): Address | undefined {
  const [first] = [replyTo ?? []].flat()
  if (!first || (given(first.email) === undefined && given(first.name) === undefined)) return undefined
  return readMailbox(first, 'replyTo')
}

/** Each address once, however often and wherever it stands. */
export function distinct(addresses: Address[]): Address[] {
  const byEmail = new Map<string, Address>()
  for (const address of addresses) {
    const email = address.email.toLowerCase()
    if (!byEmail.has(email)) byEmail.set(email, address)
  }
  return [...byEmail.values()]
}
