// How much of the database one request may have read. What is too large to be answered is not kept until that shows:
// the driver passes over the rest of a result that one of its values was refused of.
import pg from 'pg'

export type Budget = { left: number; spent: () => Error }

type Parse = (value: string | Buffer) => unknown

/** The driver's parsers, counting what they are given. */
export function countedBy(budget: Budget): pg.CustomTypesConfig {
  const getTypeParser = (id: number, format?: 'text' | 'binary') => {
    const parse: Parse = pg.types.getTypeParser(id, format as 'text')
    return (value: string | Buffer) => {
      budget.left -= value.length
      if (budget.left < 0) throw budget.spent()
      return parse(value)
    }
  }
  return { getTypeParser: getTypeParser as pg.CustomTypesConfig['getTypeParser'] }
}
