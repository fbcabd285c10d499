// What a report gives back of the message that it is about.
import { type IncomingMail, readIds } from './parse-mail.ts'

export type Reported = {
  /** Identifiers of messages that may be the one. */
  originals: string[]
  /** Those that we gave it ourselves: a provider may have written another Message-ID. */
  refs: string[]
}

export function reportedBy(mail: IncomingMail, words = ''): Reported {
  const heads = [...mail.parts.filter(({ type }) => returned.has(type)).map(({ content }) => content), words]
  const originals = [...heads.flatMap(idsInHead), ...mail.inReplyTo, ...mail.references]
  return { originals: [...new Set(originals)], refs: [...new Set(heads.flatMap(refsInHead))].slice(0, most) }
}

const most = 20

const returned = new Set([
  'message/rfc822',
  'text/rfc822-headers',
  'message/rfc822-headers',
  'message/global',
  'message/global-headers',
])

const idsInHead = (text: string) =>
  [...text.matchAll(/^[ \t>]*Message-ID:\s*(<[^<>\s]+>)/gim)].flatMap(([, id]) => readIds(id))

const refsInHead = (text: string) =>
  [...text.matchAll(/^[ \t>]*X-Posthorn-Id:\s*([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})\s*$/gim)].map(
    ([, ref]) => (ref ?? '').toLowerCase(),
  )

type Fields = Map<string, string>

/** Each block stands by itself: mixed, one recipient would get the diagnostic of another. */
export function blocksOf(report: string): Fields[] {
  return report
    .replaceAll('\r\n', '\n')
    .split(/\n[ \t]*\n/)
    .map((block) => block.replaceAll(/\n[ \t]+/g, ' '))
    .map((block) => new Map(block.split('\n').flatMap(fieldOf)))
}

function fieldOf(line: string): [string, string][] {
  const colon = line.indexOf(':')
  return colon < 1 ? [] : [[line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()]]
}
