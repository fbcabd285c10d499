// What an attribute takes, and the form in which its values are kept: text as it is, dates as YYYY-MM-DD, numbers and
// truths as such, a category by its number, a multiple choice as a list.

export const categories = ['normal', 'transactional', 'category', 'calculated', 'global'] as const
export type Category = (typeof categories)[number]

export const types = [
  'text',
  'date',
  'float',
  'boolean',
  'id',
  'category',
  'multiple-choice',
  'user',
] as const
export type AttributeType = (typeof types)[number]

export type Attribute = {
  name: string
  category: Category
  /** null: calculated and global ones, which nobody writes. */
  type: AttributeType | null
  enumeration: { value: number; label: string }[] | null
  options: string[] | null
}

const ofEveryContact = (name: string): Attribute => ({
  name,
  category: 'normal',
  type: 'text',
  enumeration: null,
  options: null,
})

/** These stand in columns of their own, and every account has them. */
export const ownAttributes = [ofEveryContact('EMAIL'), ofEveryContact('SMS')]

export type Value = string | number | boolean | string[]

/** `value: null`: the attribute is emptied. */
export type ReadValue = { value: Value | null } | { fault: string }

const longestText = 50_000

/** From what a client or a cell of a file gives to what is kept, or why it cannot be. */
export function readValue(attribute: Attribute, given: unknown): ReadValue {
  if (given === null || given === undefined || given === '') return { value: null }
  switch (attribute.type) {
    case null:
      return { fault: 'is calculated and cannot be set' }
    case 'float':
      return readNumber(given)
    case 'boolean':
      return readTruth(given)
    case 'date':
      return readDay(given)
    case 'category':
      return readChoice(attribute.enumeration ?? [], given)
    case 'multiple-choice':
      return readChoices(attribute.options ?? [], given)
    default:
      return readText(given)
  }
}

function readText(given: unknown): ReadValue {
  if (typeof given !== 'string' && typeof given !== 'number' && typeof given !== 'boolean')
    return { fault: 'must be a text' }
  // é may be one character or two: the same word is found in either form.
  const text = String(given).normalize('NFC')
  return text.length > longestText ? { fault: `has over ${longestText} characters` } : { value: text }
}

function readNumber(given: unknown): ReadValue {
  // A comma before the decimals, as French files have it.
  const text = typeof given === 'string' ? given.trim().replace(/^(-?\d+),(\d+)$/, '$1.$2') : given
  const number =
    typeof text === 'string' && /^[-+]?(\d+(\.\d*)?|\.\d+)(e[-+]?\d+)?$/i.test(text) ? Number(text) : text
  if (typeof number === 'number' && Number.isFinite(number)) return { value: number }
  return { fault: 'must be a number' }
}

const truths = new Map<unknown, boolean>([
  [true, true],
  [false, false],
  [1, true],
  [0, false],
  ['true', true],
  ['false', false],
  ['1', true],
  ['0', false],
  ['yes', true],
  ['no', false],
])

function readTruth(given: unknown): ReadValue {
  const value = truths.get(typeof given === 'string' ? given.trim().toLowerCase() : given)
  return value === undefined ? { fault: 'must be true or false' } : { value }
}

function readDay(given: unknown): ReadValue {
  const text = typeof given === 'string' ? given.trim() : ''
  const day = /^(\d{4}-\d{2}-\d{2})([T ].*)?$/.exec(text)?.[1]
  const at = day === undefined ? Number.NaN : Date.parse(`${day}T00:00:00Z`)
  // The parser takes the 31st of February for the 3rd of March.
  if (day === undefined || Number.isNaN(at) || new Date(at).toISOString().slice(0, 10) !== day)
    return { fault: 'must be a date such as 2026-11-15' }
  return { value: day }
}

function readChoice(enumeration: { value: number; label: string }[], given: unknown): ReadValue {
  const text = plainText(given)
  const found = enumeration.find(({ value, label }) => String(value) === text || plainText(label) === text)
  return found ? { value: found.value } : { fault: 'must be one of its categories' }
}

function readChoices(options: string[], given: unknown): ReadValue {
  const named = (one: unknown) => {
    const text = plainText(one)
    return options.find((option) => plainText(option) === text)
  }
  const parts = (Array.isArray(given) ? given : readList(given)).map(named)
  // One with a comma in it may also come as it is.
  const found = parts.includes(undefined) && !Array.isArray(given) ? [named(given)] : parts
  if (found.includes(undefined)) return { fault: 'must name its options only' }
  return { value: [...new Set(found as string[])] }
}

/** The choices in one text, as files have them: those with a comma in them stand in quotes. */
export function writeList(choices: string[]): string {
  return choices.map((one) => (/[",]/.test(one) ? `"${one.replaceAll('"', '""')}"` : one)).join(',')
}

const listed = /(?:^|,)\s*(?:"((?:[^"]|"")*)"\s*(?=,|$)|([^,]*))/g

function readList(given: unknown): (string | undefined)[] {
  const text = plainText(given)
  if (text === undefined || text.length > longestText) return [undefined]
  return [...text.matchAll(listed)].map(([, quoted, plain]) => quoted?.replaceAll('""', '"') ?? plain)
}

/**
 * The form in which choices are compared: é may be one character or two. Undefined for what is neither a text nor a
 * number: turning any object into text may throw.
 */
function plainText(given: unknown): string | undefined {
  return typeof given === 'string' || typeof given === 'number'
    ? String(given).normalize('NFC').trim().toLowerCase()
    : undefined
}
