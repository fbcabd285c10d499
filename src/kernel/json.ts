import { isUtf8 } from 'node:buffer'
import { malformedJson } from './refusals.ts'

const deepest = 100
// Below this length a text cannot nest deeply enough to exhaust the stack of what walks it later.
const worthScanning = 2 * deepest

export function parseJson(raw: Buffer): unknown {
  if (!isUtf8(raw)) throw malformedJson({ message: 'The body is not UTF-8 text.' })
  const text = raw.toString('utf8')
  if (text.length > worthScanning && isTooDeep(text)) {
    throw malformedJson({ message: `The body nests deeper than ${deepest} levels.` })
  }
  try {
    return JSON.parse(text)
  } catch (error) {
    throw malformedJson({ message: `The body is not valid JSON: ${place(text, error)}.` })
  }
}

function isTooDeep(text: string): boolean {
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

// The engine's own message quotes the body; what a client sent is not given back.
function place(text: string, error: unknown): string {
  const message = error instanceof Error ? error.message : ''
  if (/unexpected end/i.test(message)) return 'it ends too early'
  const position = /position (\d+)/.exec(message)?.[1]
  if (position === undefined) return 'a character is out of place'
  const before = text.slice(0, Number(position))
  return `line ${before.split('\n').length}, column ${before.length - before.lastIndexOf('\n')}`
}

/** The same text for the same value, whatever the order of its keys. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, inner) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  )
}
