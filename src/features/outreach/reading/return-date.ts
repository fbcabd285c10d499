// When somebody who is away says that they will be back.
import { fold } from './fold.ts'

const monthNames = [
  'january jan janvier janv januar jaenner janner enero ene gennaio gen',
  'february feb fevrier fevr februar febrero febbraio',
  'march mar mars marz maerz marzo',
  'april apr avril avr abril abr aprile',
  'may mai mayo maggio mag',
  'june jun juin juni junio giugno giu',
  'july jul juillet juil juli julio luglio lug',
  'august aug aout agosto ago',
  'september sep sept septembre septiembre settembre set',
  'october oct octobre oktober okt octubre ottobre ott',
  'november nov novembre noviembre',
  'december dec decembre dezember dez diciembre dic dicembre',
].map((names) => names.split(' '))

const dayNames = [
  'sunday dimanche sonntag domingo domenica',
  'monday lundi montag lunes lunedi',
  'tuesday mardi dienstag martes martedi',
  'wednesday mercredi mittwoch miercoles mercoledi',
  'thursday jeudi donnerstag jueves giovedi',
  'friday vendredi freitag viernes venerdi',
  'saturday samedi samstag sonnabend sabado sabato',
].map((names) => names.split(' '))

const anyOf = (names: string[][]) =>
  names
    .flat()
    .sort((a, b) => b.length - a.length)
    .join('|')
const month = anyOf(monthNames)
const indexIn = (names: string[][], name: string | undefined) =>
  names.findIndex((each) => each.includes(name ?? ''))

const forms: [RegExp, (found: RegExpExecArray) => Written][] = [
  [/\b(\d{4})-(\d{1,2})-(\d{1,2})\b/g, ([, y, m, d]) => ({ year: y, month: Number(m), day: d })],
  [
    new RegExp(
      `\\b(\\d{1,2})(?:st|nd|rd|th|er|\\.|º)? (?:de |of |di )?(${month})\\b\\.?(?:,? (?:de |del )?(\\d{4}))?`,
      'g',
    ),
    ([, d, name, y]) => ({ year: y, month: indexIn(monthNames, name) + 1, day: d }),
  ],
  [
    new RegExp(`\\b(${month})\\.? (\\d{1,2})(?:st|nd|rd|th)?\\b(?:,? (\\d{4}))?`, 'g'),
    ([, name, d, y]) => ({ year: y, month: indexIn(monthNames, name) + 1, day: d }),
  ],
  [/(?<![\d./-])(\d{1,2})[./-](\d{1,2})(?:[./-](\d{4}|\d{2}))?(?![\d])/g, ([, d, m, y]) => dayFirst(d, m, y)],
]

type Written = { year: string | undefined; month: number; day: string | undefined }

/** Only where the second number can be no month does the month come first. */
function dayFirst(first: string | undefined, second: string | undefined, year: string | undefined): Written {
  const full = year?.length === 2 ? `20${year}` : year
  if (Number(second) > 12) return { year: full, month: Number(first), day: second }
  return { year: full, month: Number(second), day: first }
}

const cues = [
  "back|return\\w*|until|till?|through|to|from|retour|jusqu'?a?u?|au|reprend\\w*|reviens|des|partir",
  'ab|bis|zuruck|wieder|regres\\w*|vuelvo|volvere|hasta|al|rientr\\w*|torn\\w*|ritorno|fino|dal',
]
const cue = new RegExp(`\\b(${cues.join('|')})\\b[^.!?]{0,50}$`)

const dayMs = 24 * 3_600_000
const furthestMs = 200 * dayMs

/** The last day that is named as the end of an absence, at midnight UTC; undefined when none is. */
export function returnDate(text: string, receivedAt: Date): Date | undefined {
  const folded = fold(text).slice(0, 2_000)
  const today = Math.floor(receivedAt.getTime() / dayMs) * dayMs
  const named = forms.flatMap(([form, read]) =>
    [...folded.matchAll(form)]
      .filter(({ index }) => cue.test(folded.slice(Math.max(0, index - 70), index)))
      .map((found) => timeOf(read(found as RegExpExecArray), today)),
  )
  const dates = named.filter((at) => at >= today && at <= today + furthestMs)
  if (dates.length > 0) return new Date(Math.max(...dates))
  const weekday = weekdayIn(folded, today)
  return weekday === undefined ? undefined : new Date(weekday)
}

/** Without a year the next time that the day comes. */
function timeOf({ year, month, day }: Written, today: number): number {
  const on = (inYear: number) => {
    const at = Date.UTC(inYear, month - 1, Number(day))
    return new Date(at).getUTCMonth() === month - 1 ? at : Number.NaN
  }
  if (year) return on(Number(year))
  const thisYear = new Date(today).getUTCFullYear()
  return on(thisYear) >= today ? on(thisYear) : on(thisYear + 1)
}

function weekdayIn(folded: string, today: number): number | undefined {
  for (const found of folded.matchAll(new RegExp(`\\b(${anyOf(dayNames)})\\b`, 'g'))) {
    if (!cue.test(folded.slice(Math.max(0, found.index - 70), found.index))) continue
    const ahead = (indexIn(dayNames, found[1]) - new Date(today).getUTCDay() + 7) % 7
    return today + (ahead || 7) * dayMs
  }
  return undefined
}
