// npm run bench: every figure as a ratio to an anchor of the same run; a table here, JSON in bench/results.
import { mkdir, writeFile } from 'node:fs/promises'
import { cpus } from 'node:os'
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

type Case = [name: string, run: () => Promise<Figure[]>, onlyByName?: true]
const cases: Case[] = [
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
  // Minutes.
  ['memory', benchMemory, true],
  ['campaign-memory', benchCampaignMemory, true],
]

const wanted = process.argv.slice(2)
const chosen = cases.filter(([name, , byName]) => (wanted.length === 0 ? !byName : wanted.includes(name)))
const figures: Figure[] = []
for (const [name, run] of chosen) {
  console.log(`measuring ${name} …`)
  figures.push(...(await run()))
}

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

await mkdir('bench/results', { recursive: true })
const machine = { cores: cpus().length, node: process.version, platform: process.platform }
await writeFile('bench/results/last.json', `${JSON.stringify({ machine, figures }, null, 2)}\n`)
if (figures.some((figure) => /BELOW|ABOVE/.test(verdict(figure)))) process.exitCode = 1

function asked({ wanted: least, atMost }: Figure): string {
  return [least > 0 ? `≥ ${least}` : '', atMost ? `≤ ${atMost}` : ''].filter(Boolean).join(' ') || '-'
}

function verdict({ ratio, wanted: least, atMost }: Figure): string {
  if (ratio < least) return 'BELOW'
  if (atMost !== undefined && ratio > atMost) return 'ABOVE'
  return least > 0 || atMost ? 'ok' : ''
}

function rate(figure: number): string {
  return figure < 100 ? figure.toFixed(1) : Math.round(figure).toLocaleString('en')
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
