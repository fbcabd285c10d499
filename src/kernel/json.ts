import { isUtf8 } from 'node:buffer'
import { invalidParameter, malformedJson } from './refusals.ts'

const deepest = 100
// Engines keep objects of so many names as tables, where every walk takes a microsecond a name.
const widest = 10_000
// 20,000 rows of an import have some objects and lists each; reading ten times as many takes seconds, in which the
// process does nothing else.
const mostInside = 500_000
// Below this length no object has so many fields.
const worthScanning = '"":0,'.length * widest

const byteOrderMark = /^\uFEFF/

export function parseJson(raw: Buffer): unknown {
  if (!isUtf8(raw)) throw malformedJson({ message: 'The body is not UTF-8 text.' })
  const text = raw.toString('utf8').replace(byteOrderMark, '')
  refuseShape(text)
  const value = parsed(text)
  if (mayBeUnstorable.test(text) && isUnstorable(value)) {
    throw invalidParameter({
      message: 'The body contains NUL or half of a surrogate pair, written as an escape.',
    })
  }
  return value
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw malformedJson({ message: `The body is not valid JSON: ${placeOfFault(text)}.` })
  }
}

// UTF-8 itself can carry neither; an escape can.
const mayBeUnstorable = /\\u(0000|d[89a-f])/i

/** NUL, or half of a surrogate pair, in a text or in what is inside. */
export function isUnstorable(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0') || !value.isWellFormed()
  if (value === null || typeof value !== 'object') return false
  return Object.entries(value).some(([name, inner]) => isUnstorable(name) || isUnstorable(inner))
}

/** What would cost too much to walk later; asked before it is parsed, which costs as much. */
export function refuseShape(text: string, what = 'The body'): void {
  if (text.length <= worthScanning && opens(text) <= deepest) return
  const counts: number[] = [0]
  let [depth, inside] = [0, 0]
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (c === quote) i = endOfString(text, i)
    else if (c === openBrace || c === openBracket) {
      if (++depth > deepest)
        throw invalidParameter({ message: `${what} nests deeper than ${deepest} levels.` })
      if (++inside > mostInside)
        throw invalidParameter({ message: `${what} holds more than ${mostInside} objects and lists.` })
      counts[depth] = 0
    } else if (c === closeBrace || c === closeBracket) depth--
    else if (c === colon) {
      const count = (counts[depth] ?? 0) + 1
      if (count > widest)
        throw invalidParameter({
          message: `An object of ${what.toLowerCase()} has more than ${widest} fields.`,
        })
      counts[depth] = count
    }
  }
}

const [quote, colon, backslash] = [0x22, 0x3a, 0x5c]
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]

/** Where the string ends that begins at `start`; files are long strings, so its characters are not looked at singly. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf('"', start + 1); at !== -1; at = text.indexOf('"', at + 1)) {
    let before = at
    while (text.charCodeAt(before - 1) === backslash) before--
    if ((at - before) % 2 === 0) return at
  }
  return text.length
}

/** How many brackets open, in strings or not; counting stops where it is enough to look closer. */
function opens(text: string): number {
  let count = 0
  for (const bracket of ['{', '['])
    for (let at = text.indexOf(bracket); at !== -1 && count <= deepest; at = text.indexOf(bracket, at + 1))
      count++
  return count
}

// The engine's message quotes the body, which is not given back, and often tells no position: the fault is at
// the end of the shortest beginning that no continuation could mend.
const longestSearched = 100_000

function placeOfFault(text: string): string {
  if (isOnlyCutShort(text)) return 'it ends too early'
  if (text.length > longestSearched) return 'a character is out of place'
  let [mendable, broken] = [0, text.length]
  while (broken - mendable > 1) {
    const middle = (mendable + broken) >> 1
    if (isOnlyCutShort(text.slice(0, middle))) mendable = middle
    else broken = middle
  }
  const before = text.slice(0, broken - 1)
  return `line ${before.split('\n').length}, column ${before.length - before.lastIndexOf('\n')}`
}

function isOnlyCutShort(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch (error) {
    const message = error instanceof Error ? error.message : ''
    const position = /position (\d+)/.exec(message)?.[1]
    return /unexpected end|unterminated/i.test(message) || Number(position ?? -1) >= text.length
  }
}

/** The same text for the same value, whatever the order of its keys. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}
