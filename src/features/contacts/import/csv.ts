// Comma- or semicolon-separated text, record by record. Quotes may hold separators, line breaks and doubled quotes.

/** `line` is where the record begins; the first line is 1. */
export type CsvRecord = { line: number; cells: string[] }

export class CsvFault extends Error {}

/** Of the two, the one that the heading has more of outside its quotes. */
export function separatorOf(text: string): ';' | ',' {
  let [quoted, semicolons, commas] = [false, 0, 0]
  for (const character of text) {
    if (character === '"') quoted = !quoted
    else if (!quoted && (character === '\n' || character === '\r')) break
    else if (!quoted && character === ';') semicolons++
    else if (!quoted && character === ',') commas++
  }
  return commas > semicolons ? ',' : ';'
}

/** Blank lines are no records. */
export function* readCsv(given: string): Generator<CsvRecord> {
  const text = given.startsWith('\uFEFF') ? given.slice(1) : given
  const separator = separatorOf(text.trimStart())
  let [at, line] = [0, 1]
  while (at < text.length) {
    const record: CsvRecord = { line, cells: [] }
    let cell: Cell
    do {
      cell = text[at] === '"' ? quotedCell(text, at, separator, line) : plainCell(text, at, separator)
      record.cells.push(cell.value)
      line += cell.lines
      at = cell.end + 1
    } while (text[cell.end] === separator)
    if (text[cell.end] === '\r' && text[at] === '\n') at++
    line++
    if (record.cells.some((value) => value.trim() !== '')) yield record
  }
}

/** `end` is the separator, the line break or the end of the text; `lines` the line breaks inside. */
type Cell = { value: string; end: number; lines: number }

function plainCell(text: string, from: number, separator: string): Cell {
  let end = from
  while (end < text.length && !endsCell(text[end], separator)) end++
  return { value: text.slice(from, end), end, lines: 0 }
}

function quotedCell(text: string, from: number, separator: string, line: number): Cell {
  let close = text.indexOf('"', from + 1)
  while (close >= 0 && text[close + 1] === '"') close = text.indexOf('"', close + 2)
  if (close < 0) throw new CsvFault(`The quote that opens in line ${line} is not closed.`)
  const inner = text.slice(from + 1, close).replaceAll('""', '"')
  // What stands between the closing quote and the separator is kept: dropping it would lose what somebody wrote.
  const rest = plainCell(text, close + 1, separator)
  const lines = inner.match(/\r\n|\r|\n/g)?.length ?? 0
  return { value: inner + rest.value.trimEnd(), end: rest.end, lines }
}

function endsCell(character: string | undefined, separator: string): boolean {
  return character === separator || character === '\n' || character === '\r'
}
