import { Drop, toValue } from 'liquidjs'
import { countWork } from './work.ts'

/** Text that is HTML already: it is printed as it stands. A class, because the library knows its own so. */
export class Finished extends Drop {
  readonly text: string

  constructor(text: string) {
    super()
    this.text = text
  }

  override valueOf(): string {
    return this.text
  }
}

/** A name of an object with its value: printed it is the name, as in the provider's language; it is a pair as well. */
export class Entry extends Drop {
  readonly key: string
  readonly value: unknown

  constructor(key: string, value: unknown) {
    super()
    this.key = key
    this.value = value
  }

  override valueOf(): string {
    return this.key
  }
}

// In the provider's language the names are also written with a capital.
const loopNames: Record<string, string> = {
  counter: 'index',
  counter0: 'index0',
  revcounter: 'rindex',
  revcounter0: 'rindex0',
}
const loopFields = new Set(
  'index index0 rindex rindex0 first last length row col col0 col_first col_last'.split(' '),
)

/**
 * One step of a path. Only what the data itself holds can be reached: no prototype, no function. Both ways of
 * rendering read through this one function, so that they cannot differ.
 */
export function readProperty(holder: unknown, key: unknown): unknown {
  if (holder === null || holder === undefined) return holder
  if (holder instanceof Finished) return readProperty(holder.text, key)
  if (holder instanceof Entry) return readProperty([holder.key, holder.value], key)
  if (holder instanceof Drop) return readLoop(holder, toValue(key))
  if (typeof holder === 'function') return undefined
  const name = nameOf(holder, toValue(key))
  if (name === undefined) return undefined
  if (typeof holder === 'string' && /^\d+$/.test(name)) return characterAt(holder, Number(name))
  const own = Object.hasOwn(holder as object, name) ? (holder as Record<string, unknown>)[name] : undefined
  if (own !== undefined) return typeof own === 'function' ? undefined : own
  return derived(holder, name)
}

/** A whole path; its root must be a name of the environment itself. */
export function readPath(environment: Record<string, unknown>, path: readonly unknown[]): unknown {
  const root = path[0] as string
  let value = root in environment ? readProperty(environment, root) : undefined
  for (let at = 1; at < path.length; at++) value = readProperty(value, path[at])
  return value
}

function nameOf(holder: unknown, key: unknown): string | undefined {
  if (typeof key === 'string') return key
  if (typeof key !== 'number') return undefined
  return String(key < 0 && Array.isArray(holder) ? holder.length + key : key)
}

const secondHalf = /^[\udc00-\udfff]$/

/** Whole where it takes two places of the text: it stands at the first of them, and nothing at the second. */
function characterAt(text: string, place: number): string | undefined {
  const code = text.codePointAt(place)
  const character = code === undefined ? undefined : String.fromCodePoint(code)
  return character && secondHalf.test(character) ? '' : character
}

function derived(holder: unknown, name: string): unknown {
  if (name === 'size') return sizeOf(holder)
  if (!Array.isArray(holder)) return undefined
  if (name === 'first') return holder[0]
  if (name === 'last') return holder.at(-1)
  return undefined
}

/** The loop around each loop. The library does not keep it. */
export const outerLoops = new WeakMap<object, object>()

function readLoop(loop: object, key: unknown): unknown {
  const asked = String(key).replace(/^[A-Z]/, (first) => first.toLowerCase())
  if (asked === 'parentloop') return outerLoops.get(loop)
  const name = Object.hasOwn(loopNames, asked) ? (loopNames[asked] ?? asked) : asked
  if (!loopFields.has(name)) return undefined
  const field = (loop as Record<string, unknown>)[name]
  return typeof field === 'function' ? field.call(loop) : field
}

export function sizeOf(value: unknown): number {
  if (typeof value === 'string' || Array.isArray(value)) return value.length
  if (typeof value !== 'object' || value === null) return 0
  const { length } = Object.keys(value)
  countWork(length)
  return length
}

/** With all that is inside, as often as it stands there. */
export function wholeSize(value: unknown): number {
  if (typeof value === 'string') return value.length + 1
  if (typeof value !== 'object' || value === null) return 1
  return Object.values(value).reduce((size: number, inner) => size + wholeSize(inner), 1)
}

/** The text that an output puts into the message, before escaping. */
export function printed(value: unknown): string {
  const plain = toValue(value)
  switch (typeof plain) {
    case 'string':
      return plain
    case 'undefined':
    case 'function':
    case 'symbol':
      return ''
    case 'object':
      return printedObject(plain)
    default:
      return String(plain)
  }
}

function printedObject(value: object | null): string {
  if (value === null) return ''
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? '' : value.toISOString()
  const text = Array.isArray(value)
    ? value.map(printed).filter(Boolean).join(', ')
    : (JSON.stringify(value) ?? '')
  countWork(text.length)
  return text
}

/** As in the provider's language: empty text, zero, an empty list and an empty object are false. */
export function isTrue(value: unknown): boolean {
  const plain = toValue(value)
  if (typeof plain !== 'object' || plain === null || plain instanceof Date) return Boolean(plain)
  return sizeOf(plain) > 0
}

const entities: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&#34;',
  "'": '&#39;',
}
const special = /[&<>"']/
const allSpecial = /[&<>"']/g

export function escapeHtml(text: string): string {
  return special.test(text) ? text.replace(allSpecial, (found) => entities[found] ?? found) : text
}

const entityOrSpecial = /&(?!(?:[a-z]+\d*|#\d+|#x[\da-f]+);)|[<>"']/gi

export function escapeHtmlOnce(text: string): string {
  return text.replace(entityOrSpecial, (found) => entities[found] ?? found)
}
