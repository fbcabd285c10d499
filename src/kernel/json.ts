import { isUtf8 } from 'node:buffer'
import { invalidParameter, malformedJson } from './refusals.ts'

const deepest = 100
// Below this length a text cannot nest deeply enough to exhaust the stack of what walks it later.
const worthScanning = 2 * deepest

const byteOrderMark = /^\uFEFF/

export function parseJson(raw: Buffer): unknown {
  if (!isUtf8(raw)) throw malformedJson({ message: 'The body is not UTF-8 text.' })
  const text = raw.toString('utf8').replace(byteOrderMark, '')
  if (text.length > worthScanning && isTooDeep(text)) {
    throw invalidParameter({ message: `The body nests deeper than ${deepest} levels.` })
  }
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

function isUnstorable(value: unknown): boolean {
  if (typeof value === 'string') return value.includes('\0') || !value.isWellFormed()
  if (value === null || typeof value !== 'object') return false
  return Object.entries(value).some(([name, inner]) => isUnstorable(name) || isUnstorable(inner))
}

function isTooDeep(text: string): boolean {
  return opens(text) > deepest && depthIsOver(text)
}

/** How many brackets open, in strings or not; counting stops where it is enough to look closer. */
function opens(text: string): number {
  let count = 0
  for (const bracket of ['{', '['])
    for (let at = text.indexOf(bracket); at !== -1 && count <= deepest; at = text.indexOf(bracket, at + 1))
      count++
  return count
}

function depthIsOver(text: string): boolean {
  let depth = 0
  let inString = false
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i)
    if (inString) {
      if (c === 0x5c) i++
      else if (c === 0x22) inString = false
    } else if (c === 0x22) inString = true
    else if (c === 0x7b || c === 0x5b) {
      if (++depth > deepest) return true
    } else if (c === 0x7d || c === 0x5d) depth--
  }
  return false
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
