// npm run bench: every figure as a ratio to an anchor of the same run; a table here, JSON in bench/results.
import { mkdir, writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
import { benchHttp } from './cases/http.ts'
import type { Figure } from './figure.ts'

const cases: [string, () => Promise<Figure[]>][] = [['http', benchHttp]]

const wanted = process.argv.slice(2)
const chosen = cases.filter(([name]) => wanted.length === 0 || wanted.includes(name))
const figures: Figure[] = []
for (const [name, run] of chosen) {
  console.log(`measuring ${name} …`)
  figures.push(...(await run()))
}

const rows = figures.map(({ name, measured, anchor, anchorMeasured, ratio, wanted: least }) => [
  name,
  rate(measured),
  anchor,
  rate(anchorMeasured),
  ratio.toFixed(2),
  least > 0 ? `≥ ${least}` : '-',
  least === 0 ? '' : ratio >= least ? 'ok' : 'BELOW',
])
console.log(`\n${table([['what', 'per second', 'anchor', 'per second', 'ratio', 'wanted', ''], ...rows])}`)

await mkdir('bench/results', { recursive: true })
const machine = { cores: cpus().length, node: process.version, platform: process.platform }
await writeFile('bench/results/last.json', `${JSON.stringify({ machine, figures }, null, 2)}\n`)
if (figures.some(({ ratio, wanted: least }) => ratio < least)) process.exitCode = 1

function rate(figure: number): string {
  return Math.round(figure).toLocaleString('en')
}

function table(lines: string[][]): string {
  const widths = lines[0]?.map((_, i) => Math.max(...lines.map((line) => (line[i] ?? '').length))) ?? []
  return lines
    .map((line) =>
      line
        .map((cell, i) => cell.padEnd(widths[i] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}
