// How commands speak: results on standard output, errors as one line on standard error.

export type Output = { json: boolean }

export function say(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** What is not the result. */
export function complain(line: string): void {
  process.stderr.write(`posthorn: ${line}\n`)
}

export function sayJson(value: unknown): void {
  say(JSON.stringify(value))
}

/** The command cannot do what was asked; the message is one line that says why and what to do. */
export class CommandFault extends Error {
  readonly exitCode: number

  constructor(message: string, exitCode = 1) {
    super(message)
    this.exitCode = exitCode
  }
}

type Cell = string | number | boolean | null

export function table(headings: string[], rows: Cell[][]): string {
  const cells = [headings, ...rows.map((row) => row.map((cell) => (cell === null ? '-' : String(cell))))]
  const widths = headings.map((_, i) => Math.max(...cells.map((row) => (row[i] ?? '').length)))
  return cells
    .map((row) =>
      row
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
