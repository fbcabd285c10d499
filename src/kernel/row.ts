// The shape of a row, named beside each statement. Under test every row is held against it,
// so that a mistyped column fails the first test that runs the statement.

type Column<T> = { is: (value: unknown) => boolean; says: string; type?: T }
export type Shape<R> = { columns: { [K in keyof R]: Column<R[K]> } }

const column = <T>(says: string, is: (value: unknown) => boolean): Column<T> => ({ says, is })

/** Also bigint and numeric, which the driver gives as text so that nothing is rounded. */
export const text = column<string>('text', (v) => typeof v === 'string')
export const int = column<number>('a number', (v) => typeof v === 'number')
export const bool = column<boolean>('a boolean', (v) => typeof v === 'boolean')
export const time = column<Date>('a time', (v) => v instanceof Date)
export const bytes = column<Buffer>('bytes', (v) => Buffer.isBuffer(v))
export const texts = column<string[]>('a list of text', (v) => Array.isArray(v) && v.every(text.is))
export const json = <T>() => column<T>('json', (v) => v !== undefined)
export const maybe = <T>(of: Column<T>): Column<T | null> => ({
  says: `${of.says} or null`,
  is: (v) => v === null || of.is(v),
})

export function row<R>(columns: { [K in keyof R]: Column<R[K]> }): Shape<R> {
  return { columns }
}

export function holdAgainst<R>(shape: Shape<R>, found: Record<string, unknown>, statement: string): void {
  const columns = Object.entries(shape.columns) as [string, Column<unknown>][]
  const wrong = columns
    .filter(([name, { is }]) => !is(found[name]))
    .map(([name, c]) => `${name} is not ${c.says}`)
  const extra = Object.keys(found).filter((name) => !Object.hasOwn(shape.columns, name))
  if (wrong.length === 0 && extra.length === 0) return
  const faults = [...wrong, ...extra.map((name) => `${name} is not in the shape`)]
  throw new Error(`row differs from its shape: ${faults.join(', ')} in: ${statement}`)
}
