// npm run bench: every figure as a ratio to an anchor of the same run; a table here, JSON in bench/results, and the
// last run of every case in docs/benchmarks.md. All of it takes most of an hour; npm run bench -- NAME… some of it.
import { readFile, writeFile } from 'node:fs/promises'
import { buildChildren } from './build-children.ts'
import { benchAcceptance } from './cases/acceptance.ts'
import { benchCampaign, benchCampaignMemory, benchFreezing } from './cases/campaign.ts'
import { benchContacts, benchImport } from './cases/contacts.ts'
import { benchDomains } from './cases/domains.ts'
import { benchHttp } from './cases/http.ts'
import { benchMailboxes } from './cases/mailboxes.ts'
import { benchOutreach } from './cases/outreach.ts'
import { benchQueue } from './cases/queue.ts'
import { benchRelay } from './cases/relay.ts'
import { benchMemory, benchSending } from './cases/sending.ts'
import { benchStatistics } from './cases/statistics.ts'
import { benchWebhooks } from './cases/webhooks.ts'
import type { Figure } from './figure.ts'
import { asked, type Measured, pageOf, rate, sectionOf, sectionsIn, verdict } from './page.ts'

const cases: [name: string, run: () => Promise<Figure[]>][] = [
  ['http', benchHttp],
  ['acceptance', benchAcceptance],
  ['relay', benchRelay],
  ['sending', benchSending],
  ['queue', benchQueue],
  ['import', benchImport],
  ['contacts', benchContacts],
  ['statistics', benchStatistics],
  ['domains', benchDomains],
  ['campaign', benchCampaign],
  ['freezing', benchFreezing],
  ['webhooks', benchWebhooks],
  ['mailboxes', benchMailboxes],
  ['outreach', benchOutreach],
  ['memory', benchMemory],
  ['campaign-memory', benchCampaignMemory],
]

const wanted = process.argv.slice(2)
const chosen = cases.filter(([name]) => wanted.length === 0 || wanted.includes(name))
const measured: Measured[] = []
await buildChildren()
for (const [name, run] of chosen) {
  console.log(`measuring ${name} …`)
  measured.push({ case: name, on: new Date().toISOString().slice(0, 10), figures: await run() })
  await keep()
}
const figures = measured.flatMap((one) => one.figures)
if (figures.some((figure) => /BELOW|ABOVE/.test(verdict(figure)))) process.exitCode = 1

const rows = figures.map((figure) => [
  figure.name,
  rate(figure.measured),
  figure.anchor,
  rate(figure.anchorMeasured),
  figure.ratio.toFixed(2),
  asked(figure),
  verdict(figure),
])
console.log(
  `\n${table([['what', 'per second, or as named', 'anchor', 'likewise', 'ratio', 'wanted', ''], ...rows])}`,
)

/** After each case: the next may take its time, or fail. What was not measured now stays as it is on the page. */
async function keep(): Promise<void> {
  const page = 'docs/benchmarks.md'
  const before = sectionsIn(await readFile(page, 'utf8'))
  const sections = cases.flatMap(([name]) => {
    const now = measured.find((one) => one.case === name)
    return now ? sectionOf(now) : (before.get(name) ?? [])
  })
  await writeFile('bench/results/last.json', `${JSON.stringify(measured, null, 2)}\n`)
  await writeFile(page, pageOf(sections))
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
