// What an unsubscribe link carries, readable by nobody else. It has to work for as long as the mail is kept, also when
// the contact is gone.
import { normalEmail } from '../../../kernel/email-address.ts'
import {
  numberBytes,
  openToken,
  readNumber,
  sealToken,
  type TokenKeys,
  tokenKeysOf,
  uuidBytes,
  uuidOf,
} from '../../../kernel/signed-token.ts'

export type UnsubscribeKeys = TokenKeys

/** Gives the keys at their first need, because a secret may be made then. */
export type FindUnsubscribeKeys = () => Promise<UnsubscribeKeys>

/** Whose mail is refused, by whom, and from which message that was learnt. Without a list: all mail. */
export type UnsubscribeToken = { accountId: string; email: string; listId?: string; messageId?: string }

// One byte of what follows, the account, the list, the 16 of the message, the address.
const withList = 1
const withMessage = 2
const idBytes = 16

export function unsubscribeKeysOf(secrets: readonly Buffer[]): UnsubscribeKeys {
  return tokenKeysOf(secrets, 'posthorn unsubscribe')
}

export function writeUnsubscribeToken(keys: UnsubscribeKeys, token: UnsubscribeToken): string {
  const email = normalEmail(token.email)
  if (email === undefined) throw new TypeError('An unsubscribe link needs an email address')
  const { accountId, listId, messageId } = token
  const kind = (listId === undefined ? 0 : withList) | (messageId === undefined ? 0 : withMessage)
  const body = Buffer.concat([
    Buffer.from([kind]),
    numberBytes(accountId),
    listId === undefined ? nothing : numberBytes(listId),
    messageId === undefined ? nothing : uuidBytes(messageId),
    Buffer.from(email),
  ])
  return sealToken(keys, body)
}

/** Nothing for a token that is not ours, whatever is wrong with it. */
export function readUnsubscribeToken(keys: UnsubscribeKeys, token: string): UnsubscribeToken | undefined {
  const body = openToken(keys, token)
  return body && opened(body)
}

// Only reached by what we signed ourselves, so its form needs no doubting.
function opened(body: Buffer): UnsubscribeToken {
  const kind = body.readUInt8(0)
  const account = readNumber(body, 1)
  const list = kind & withList ? readNumber(body, account.end) : undefined
  const listEnd = list?.end ?? account.end
  const end = kind & withMessage ? listEnd + idBytes : listEnd
  return {
    accountId: account.value,
    email: body.subarray(end).toString(),
    ...(list && { listId: list.value }),
    ...(kind & withMessage && { messageId: uuidOf(body.subarray(listEnd, end)) }),
  }
}

const nothing = Buffer.alloc(0)
