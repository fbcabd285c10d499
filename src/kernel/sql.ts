// SQL is written as SQL. The tag takes values and other pieces of SQL, never raw text.
import { createHash } from 'node:crypto'
import type { Budget } from './budget.ts'

const PIECE = Symbol('sql')

export type Sql = {
  [PIECE]: true
  strings: readonly string[]
  values: unknown[]
  /** What its result is counted against. */
  budget?: Budget
}

export function sql(strings: TemplateStringsArray, ...values: unknown[]): Sql {
  return { [PIECE]: true, strings, values }
}

const nothing = sql``

/** A piece that stands only when the value is there. */
export function when<T>(value: T | undefined | null, piece: (value: T) => Sql): Sql {
  return value === undefined || value === null ? nothing : piece(value)
}

/**
 * One parameter a value, in rows: `before ($1::uuid, $2::text), ($3::uuid, $4::text)… after`. The number of rows is
 * rounded up with rows of nulls, which the statement has to leave out, so that there are few different texts.
 */
export function valueRows(
  around: { before: string; after: string },
  types: string[],
  rows: unknown[][],
): Sql {
  const count = Math.ceil(rows.length / rowStep) * rowStep
  const padding = Array.from({ length: (count - rows.length) * types.length }, () => null)
  return { [PIECE]: true, strings: rowStrings(around, types, count), values: [...rows.flat(), ...padding] }
}

const rowStep = 8
const madeRows = new Map<string, readonly string[]>()

function rowStrings({ before, after }: { before: string; after: string }, types: string[], count: number) {
  const name = `${before}${count}`
  const known = madeRows.get(name)
  if (known) return known
  const cast = (n: number) => `::${types[n % types.length]}`
  const between = (n: number) => (n % types.length === 0 ? '), (' : ', ')
  const total = count * types.length
  const strings = Array.from({ length: total + 1 }, (_, n) => {
    if (n === 0) return `${before} (`
    return cast(n - 1) + (n === total ? `) ${after}` : between(n))
  })
  madeRows.set(name, strings)
  return strings
}

export type Statement = { name: string; text: string; values: unknown[] }

type Text = Omit<Statement, 'values'>

// A statement without inner pieces has the same text each time; its strings are one object for each place in the code.
const flat = new WeakMap<readonly string[], Text>()

export function compile(piece: Sql): Statement {
  if (piece.values.some(isPiece)) return compileNested(piece)
  const known = flat.get(piece.strings)
  if (known) return { ...known, values: piece.values }
  const made = compileNested(piece)
  flat.set(piece.strings, { name: made.name, text: made.text })
  return made
}

function compileNested(piece: Sql): Statement {
  const values: unknown[] = []
  const text = write(piece, values)
  return { name: nameOf(text), text, values }
}

function write(piece: Sql, values: unknown[]): string {
  let text = piece.strings[0] ?? ''
  piece.values.forEach((value, i) => {
    if (isPiece(value)) text += write(value, values)
    else text += `$${values.push(value)}`
    text += piece.strings[i + 1] ?? ''
  })
  return text
}

function isPiece(value: unknown): value is Sql {
  return typeof value === 'object' && value !== null && PIECE in value
}

const names = new Map<string, string>()

// Named statements are parsed and planned once per connection.
function nameOf(text: string): string {
  const known = names.get(text)
  if (known) return known
  const name = `q_${createHash('sha256').update(text).digest('base64url').slice(0, 20)}`
  names.set(text, name)
  return name
}
