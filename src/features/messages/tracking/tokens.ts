import { timingSafeEqual } from 'node:crypto'
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
const version = 1
const headBytes = 3
const idBytes = 16
const codeBytes = 16
const openKind = 0
const longestToken = 8_192

// A click's kind is one more than the place of its prefix here, which is left out of the token.
const prefixes = ['', 'https://', 'http://', 'https://www.']

export function openToken(keys: TrackingKeys, messageId: string): string {
  return sealed(keys, openKind, [idOf(messageId)])
}

/** Throws for a target that is not http(s), or longer than a token may be. */
export function clickToken(keys: TrackingKeys, messageId: string, url: string): string {
  if (!isWebAddress(url)) throw new TypeError('A tracked link must be http or https')
  const place = prefixes.reduce((best, prefix, at) => (url.startsWith(prefix) ? at : best), 0)
  const target = Buffer.from(url.slice(prefixes[place]?.length))
  const token = sealed(keys, place + 1, [idOf(messageId), target])
  if (token.length > longestToken) throw new RangeError('A tracked link is too long')
  return token
}

/** Nothing for a token that is not ours, whatever is wrong with it. */
export function readToken(keys: TrackingKeys, token: string): TrackingToken | undefined {
  const bytes = decoded(token)
  if (!bytes) return undefined
  const [first = 0] = bytes
  const key = keys.all.get(bytes.readUInt16BE(1)) ?? currentKey(keys, bytes.readUInt16BE(1))
  if (first >> 4 !== version || !key) return undefined
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

function sealed({ current }: TrackingKeys, kind: number, parts: Buffer[]): string {
  const head = Buffer.allocUnsafe(headBytes)
  head.writeUInt8((version << 4) | kind)
  head.writeUInt16BE(current.id, 1)
  const body = Buffer.concat([head, ...parts])
  return Buffer.concat([body, codeOf(current.key, body)]).toString('base64url')
}

// The name keeps the code apart from what else may be signed with the same key.
const purpose = Buffer.from('posthorn tracking\0')

const codeOf = (key: Buffer, body: Buffer) => hmac(key, Buffer.concat([purpose, body])).subarray(0, codeBytes)

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
