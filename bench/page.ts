// docs/benchmarks.md: a section for the last run of every case.
import { cpus, totalmem } from 'node:os'
import type { Figure } from './figure.ts'
import { limits } from './limits.ts'

/** Of one case: what was measured last, and on which day. */
export type Measured = { case: string; on: string; figures: Figure[] }

export function pageOf(sections: string[]): string {
  const [processor] = cpus()
  const memory = Math.round(totalmem() / 2 ** 30)
  return `# Benchmarks

Written by \`npm run bench\`: the last run of every case. Each figure is a ratio to an anchor that was measured in the
same run, because rates depend on the machine more than on Posthorn: where both take turns, the ratio is the median of
those of the turns. A rate is better when it is greater; a time, a memory or a cost is better when it is smaller.

Machine: ${cpus().length} virtual processors, ${processor?.model ?? 'unknown'}, ${memory} GiB of memory,
Node ${process.versions.node}, the embedded PostgreSQL with its defaults for durability, everything (service, database,
load, receiver) on the same machine.
${limits.machine}

${sections.join('\n')}`
}

/** The sections of a page by their case: the page itself is what is known of runs on other days. */
export function sectionsIn(page: string): Map<string, string> {
  const sections = page.split(/^(?=## )/m).slice(1)
  return new Map(sections.map((text) => [/^## (.*)/.exec(text)?.[1] ?? '', `${text.trimEnd()}\n`]))
}

export function sectionOf({ case: name, on, figures }: Measured): string {
  return `## ${name}

| what | measured | anchor | measured | ratio | wanted | |
| --- | --- | --- | --- | --- | --- | --- |
${figures.map(lineOf).join('\n')}

${limits.cases[name] ?? ''} Measured on ${on}.
`
}

function lineOf(figure: Figure): string {
  const { name, measured, anchor, anchorMeasured, ratio } = figure
  const cells = [
    name,
    rate(measured),
    anchor,
    rate(anchorMeasured),
    ratio.toFixed(2),
    asked(figure),
    verdict(figure),
  ]
  return `| ${cells.join(' | ')} |`
}

export function asked({ wanted, atMost }: Figure): string {
  return (
    [wanted > 0 ? `≥ ${Number(wanted.toFixed(2))}` : '', atMost ? `≤ ${atMost}` : '']
      .filter(Boolean)
      .join(' ') || '-'
  )
}

export function verdict({ ratio, wanted, atMost }: Figure): string {
  if (ratio < wanted) return 'BELOW'
  if (atMost !== undefined && ratio > atMost) return 'ABOVE'
  return wanted > 0 || atMost ? 'ok' : ''
}

export function rate(figure: number): string {
  return figure < 100 ? figure.toFixed(1) : Math.round(figure).toLocaleString('en')
}
