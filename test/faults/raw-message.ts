// A message as bytes, read as strictly as a hostile reader would: every line break counts.

/** The names of the fields of a header block, in order; a line that is no field is given as it stands. */
export function fieldNames(lines: string[]): string[] {
  return lines
    .filter((line) => !/^[ \t]/.test(line))
    .map((line) => /^([!-9;-~]+):/.exec(line)?.[1] ?? `no field: ${JSON.stringify(line)}`)
}

/** A lone CR or LF ends a line too: some server on the way will take it for one. */
const linesOf = (text: string) => text.split(/\r\n|\r|\n/)

export function headOf(raw: Buffer): string[] {
  const lines = linesOf(raw.toString('latin1'))
  return lines.slice(0, lines.indexOf(''))
}

/** The header blocks of all parts, at any depth. */
export function partHeads(raw: Buffer): string[][] {
  const text = raw.toString('latin1')
  const marks = new Set([...text.matchAll(/boundary="?([^";\r\n]+)"?/g)].map(([, mark]) => `--${mark}`))
  const lines = linesOf(text)
  return lines.flatMap((line, at) =>
    marks.has(line) ? [lines.slice(at + 1, lines.indexOf('', at + 1))] : [],
  )
}
