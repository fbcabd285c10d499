// The figures of a campaign as a message.
import { oneLine } from '../../../kernel/v3/lenient.ts'
import { escapeHtml } from '../../messages/templates/values.ts'
import type { Statistics } from '../statistics.ts'
import { type Language, told, words } from './words.ts'

export type Report = {
  language: Language
  campaign: string
  /** What its author says above the figures. */
  body: string
  figures: Statistics['globalStats']
}

export type WrittenReport = { subject: string; html: string; text: string }

export function writeReport({ language, campaign, body, figures }: Report): WrittenReport {
  const { title, names } = words[language]
  const subject = oneLine(`${title} – ${campaign}`)
  const number = new Intl.NumberFormat(language)
  const rows = told.map((name): Row => [names[name], number.format(figures[name])])
  return {
    subject,
    html: page(language, { subject, body, rows }),
    text: `${body}\n\n${subject}\n\n${rows.map((row) => row.join(': ')).join('\n')}\n`,
  }
}

type Row = [name: string, figure: string]

const cell = 'padding:8px 12px;border-bottom:1px solid #e5e7eb'

function page(language: Language, { subject, body, rows }: { subject: string; body: string; rows: Row[] }) {
  const lines = rows.map(
    ([name, figure]) =>
      `<tr><th scope="row" style="${cell};text-align:left;font-weight:normal">${escapeHtml(name)}</th>` +
      `<td style="${cell};text-align:right"><strong>${escapeHtml(figure)}</strong></td></tr>`,
  )
  return `<!doctype html>
<html lang="${language}">
<head><meta charset="utf-8"><title>${escapeHtml(subject)}</title></head>
<body style="margin:24px;font:15px/1.5 sans-serif;color:#111827">
<p>${escapeHtml(body).replaceAll(/\r\n|\r|\n/g, '<br>\n')}</p>
<h1 style="font-size:18px">${escapeHtml(subject)}</h1>
<table style="border-collapse:collapse;min-width:320px">
${lines.join('\n')}
</table>
</body>
</html>
`
}
