// A message as the relay took it in: its header fields to read, its body as bytes that nobody touches.
import { createHash } from 'node:crypto'
import { type HeaderField, splitMessage } from '../mime/canonical.ts'

export type RelayedMail = {
  fields: HeaderField[]
  body: Buffer
  isHeadTooLong: boolean
  /** Stands for the message where calls are compared: its bytes as JSON would take ten times their size. */
  toJSON(): string
}

// Some thousand fields: enough for anybody, and little enough to be held as text.
const longestHead = 256 * 1024

export function openMail(raw: Buffer): RelayedMail {
  const end = raw.indexOf('\r\n\r\n')
  const isHeadTooLong = (end < 0 ? raw.length : end) > longestHead
  const { fields, body } = isHeadTooLong ? { fields: [], body: raw } : splitMessage(raw)
  return { fields, body, isHeadTooLong, toJSON: () => fingerprintOf(fields, body) }
}

export function fieldsNamed({ fields }: Pick<RelayedMail, 'fields'>, name: string): HeaderField[] {
  return fields.filter((field) => field.name === name)
}

/** The value of the first field of one of these names, unfolded (RFC 5322 §2.2.3). A tab is a blank like any other. */
export function valueIn(mail: Pick<RelayedMail, 'fields'>, ...names: string[]): string | undefined {
  const field = names.flatMap((name) => fieldsNamed(mail, name))[0]
  return field?.text
    .slice(field.text.indexOf(':') + 1)
    .replaceAll('\r\n', '')
    .replaceAll('\t', ' ')
    .trim()
}

/** What says the same under several names: where two of them stand in one mail, the earlier here is believed. */
export const tagHeaders = ['X-Posthorn-Tag', 'X-Mail-Tag', 'X-Mailin-Tag', 'X-Tag']
export const metadataHeaders = ['X-Posthorn-Metadata', 'X-Mail-Metadata']
export const idempotencyHeaders = ['idempotency-key', 'x-posthorn-idempotency-key', 'x-mail-idempotency-key']

export function firstOf(mail: RelayedMail, names: string[]): { name: string; value: string } | undefined {
  for (const name of names) {
    const value = valueIn(mail, name.toLowerCase())
    if (value !== undefined) return { name, value }
  }
  return undefined
}

// A program that sends the same mail again has it composed again: these differ then, and so do the boundaries.
const perComposition = new Set(['date', 'message-id', 'received', ...idempotencyHeaders])
const mostBoundaries = 20

function fingerprintOf(fields: HeaderField[], body: Buffer): string {
  const head = fields.filter(({ name }) => !perComposition.has(name)).map(({ text }) => text)
  const whole = `${head.join('\r\n')}\r\n\r\n${body.toString('latin1')}`
  const boundaries = [...whole.matchAll(/boundary="?([^";\s]{8,70})/gi)].map(([, boundary = '']) => boundary)
  const plain = [...new Set(boundaries)]
    .slice(0, mostBoundaries)
    .reduce((text, boundary) => text.replaceAll(boundary, ''), whole)
  return createHash('sha256').update(plain, 'latin1').digest('base64')
}
