// SQL is written as SQL. The tag takes values and other pieces of SQL, never raw text.
import { createHash } from 'node:crypto'

const PIECE = Symbol('sql')

export type Sql = { [PIECE]: true; strings: readonly string[]; values: unknown[] }

export function sql(strings: TemplateStringsArray, ...values: unknown[]): Sql {
  return { [PIECE]: true, strings, values }
}

const nothing = sql``

/** A piece that stands only when the value is there. */
export function when<T>(value: T | undefined | null, piece: (value: T) => Sql): Sql {
  return value === undefined || value === null ? nothing : piece(value)
}

export type Statement = { name: string; text: string; values: unknown[] }

export function compile(piece: Sql): Statement {
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
