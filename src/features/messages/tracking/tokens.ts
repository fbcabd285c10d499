import { hash, timingSafeEqual } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { hmac } from '../../../kernel/hmac.ts'
import { uuidBytes, uuidOf } from '../../../kernel/signed-token.ts'

export type TrackingKeys = {
  current: { id: number; key: Buffer }
  /** Old keys stay here for as long as mail that was sent with them is read. */
  all: Map<number, Buffer>
}

export type TrackingToken =
  | { kind: 'open'; messageId: string; url?: undefined }
  | { kind: 'click'; messageId: string; url: string }

// One byte of version and kind, two of key id, the 16 of the message id, the target, the code. The target of a click
// travels inside, under the code, so that the address cannot be made to lead elsewhere.
const version = 2
// In mail that has gone out already: its code is an HMAC.
const versionBefore = 1
const headBytes = 3
const idBytes = 16
const codeBytes = 16
const openKind = 0
const longestToken = 8_192
const mostTargetBytes = (longestToken / 4) * 3 - headBytes - idBytes - codeBytes

// A click's kind is one more than the place of its prefix here, which is left out of the token.
const prefixes = ['', 'https://', 'http://', 'https://www.']

const noTarget = Buffer.alloc(0)

export function openToken(keys: TrackingKeys, messageId: string): string {
  return sealed(keys, messageId, { kind: openKind, bytes: noTarget })
}

/** Throws for a target that is not http(s), or longer than a token may be. */
export function clickToken(keys: TrackingKeys, messageId: string, url: string): string {
  const target = targets.get(url) ?? targetOf(url)
  targets.set(url, target)
  return sealed(keys, messageId, target)
}

type Target = { kind: number; bytes: Buffer }

// All messages of a campaign have the same links.
const targets = new LRUCache<string, Target>({ max: 1_000 })

function targetOf(url: string): Target {
  if (!isWebAddress(url)) throw new TypeError('A tracked link must be http or https')
  const place = prefixes.reduce((best, prefix, at) => (url.startsWith(prefix) ? at : best), 0)
  const bytes = Buffer.from(url.slice(prefixes[place]?.length))
  if (bytes.length > mostTargetBytes) throw new RangeError('A tracked link is too long')
  return { kind: place + 1, bytes }
}

/** Nothing for a token that is not ours, whatever is wrong with it. */
export function readToken(keys: TrackingKeys, token: string): TrackingToken | undefined {
  const bytes = decoded(token)
  if (!bytes) return undefined
  const [first = 0] = bytes
  const key = keys.all.get(bytes.readUInt16BE(1)) ?? currentKey(keys, bytes.readUInt16BE(1))
  const codeOf = codesOf[first >> 4]
  if (!codeOf || !key) return undefined
  const body = bytes.subarray(0, -codeBytes)
  if (!timingSafeEqual(codeOf(key, body), bytes.subarray(-codeBytes))) return undefined
  return opened(first & 15, body)
}

function opened(kind: number, body: Buffer): TrackingToken | undefined {
  const messageId = uuidOf(body.subarray(headBytes, headBytes + idBytes))
  const rest = body.subarray(headBytes + idBytes).toString()
  if (kind === openKind) return rest === '' ? { kind: 'open', messageId } : undefined
  const prefix = prefixes[kind - 1]
  if (prefix === undefined) return undefined
  const url = prefix + rest
  return isWebAddress(url) ? { kind: 'click', messageId, url } : undefined
}

// Key, purpose and body in one place: a message with ten links needs a dozen codes, and there it is made by one hash.
// That is a code nobody else can make or lengthen, because SHA-512/256 gives away half of its state only.
const purpose = Buffer.from('posthorn tracking\0')
const keyBytes = 32
const bodyAt = keyBytes + purpose.length
const idAt = bodyAt + headBytes
const targetAt = idAt + idBytes
const sheet = Buffer.alloc(bodyAt + longestToken)
purpose.copy(sheet, keyBytes)

function sealed({ current }: TrackingKeys, messageId: string, { kind, bytes }: Target): string {
  sheet[bodyAt] = (version << 4) | kind
  sheet.writeUInt16BE(current.id, bodyAt + 1)
  idOf(messageId).copy(sheet, idAt)
  bytes.copy(sheet, targetAt)
  const end = targetAt + bytes.length
  sheet.write(codeUpTo(end, current.key), end, codeBytes, 'latin1')
  return sheet.toString('base64url', bodyAt, end + codeBytes)
}

function codeUpTo(end: number, key: Buffer): string {
  if (key.copy(sheet) !== keyBytes) throw new RangeError(`A key of ${keyBytes} bytes is needed`)
  return hash('sha512-256', sheet.subarray(0, end), 'binary')
}

const codesOf: Record<number, (key: Buffer, body: Buffer) => Buffer> = {
  [version](key, body) {
    body.copy(sheet, bodyAt)
    return Buffer.from(codeUpTo(bodyAt + body.length, key), 'latin1').subarray(0, codeBytes)
  },
  [versionBefore]: (key, body) => hmac(key, Buffer.concat([purpose, body])).subarray(0, codeBytes),
}

// Only the one spelling that encoding gives is taken: otherwise one token would have many forms.
function decoded(token: string): Buffer | undefined {
  if (token.length > longestToken) return undefined
  const bytes = Buffer.from(token, 'base64url')
  const isWhole = bytes.length >= headBytes + idBytes + codeBytes
  return isWhole && bytes.toString('base64url') === token ? bytes : undefined
}

const currentKey = ({ current }: TrackingKeys, id: number) => (current.id === id ? current.key : undefined)

// No control characters: the address ends up in a response header.
const isWebAddress = (url: string) => /^https?:\/\/\P{Cc}*$/iu.test(url)

// A message has many links, one after the other.
let last: { uuid: string; bytes: Buffer } = { uuid: '', bytes: Buffer.alloc(idBytes) }

function idOf(uuid: string): Buffer {
  if (uuid !== last.uuid) last = { uuid, bytes: uuidBytes(uuid) }
  return last.bytes
}
