// Three ways of writing a date format are in use besides strftime; each is translated into it.

const django: Record<string, string> = {
  d: '%d',
  j: '%-d',
  D: '%a',
  l: '%A',
  S: '%q',
  w: '%w',
  z: '%j',
  W: '%V',
  m: '%m',
  n: '%-m',
  M: '%b',
  b: '%b',
  F: '%B',
  N: '%b',
  Y: '%Y',
  y: '%y',
  o: '%Y',
  g: '%-l',
  G: '%-H',
  h: '%I',
  H: '%H',
  i: '%M',
  s: '%S',
  u: '%6N',
  a: '%P',
  A: '%p',
  P: '%-l:%M %P',
  T: '%Z',
  e: '%Z',
  O: '%z',
  U: '%s',
  c: '%Y-%m-%dT%H:%M:%S%:z',
  r: '%a, %d %b %Y %H:%M:%S %z',
}

const patterned: Record<string, string> = {
  YYYY: '%Y',
  yyyy: '%Y',
  YY: '%y',
  yy: '%y',
  MMMM: '%B',
  MMM: '%b',
  MM: '%m',
  M: '%-m',
  DDDD: '%A',
  dddd: '%A',
  ddd: '%a',
  DD: '%d',
  dd: '%d',
  D: '%-d',
  HH: '%H',
  H: '%-H',
  hh: '%I',
  h: '%-l',
  mm: '%M',
  ss: '%S',
  A: '%p',
  a: '%P',
}

const reference: Record<string, string> = {
  '2006': '%Y',
  'Z07:00': '%:z',
  '-07:00': '%:z',
  '-0700': '%z',
  January: '%B',
  Jan: '%b',
  Monday: '%A',
  Mon: '%a',
  MST: '%Z',
  '01': '%m',
  '02': '%d',
  _2: '%e',
  '03': '%I',
  '04': '%M',
  '05': '%S',
  '06': '%y',
  '15': '%H',
  PM: '%p',
  pm: '%P',
  '1': '%-m',
  '2': '%-d',
  '3': '%-l',
}

const alternatives = (table: Record<string, string>) =>
  new RegExp(
    Object.keys(table)
      .sort((one, other) => other.length - one.length)
      .join('|'),
    'g',
  )

const patternedPieces = alternatives(patterned)
const referencePieces = alternatives(reference)

// In the other forms there are no digits.
const isReference = /2006|Jan|Mon|MST|(?<!\d)(?:0[1-6]|15|_2)(?!\d)|(?<!\d)3:04/

/**
 * `%d/%m/%Y` is strftime, `d/m/Y` the form of Django, `DD/MM/YYYY` the one of spreadsheets, `02/01/2006` the one
 * of Go, which the compatible provider takes.
 */
export function strftimeOf(format: string): string {
  if (format.includes('%')) return format
  if (isReference.test(format)) return replaced(format, referencePieces, reference)
  if (/YYYY|yyyy|MM|DD|dd|HH/.test(format)) return replaced(format, patternedPieces, patterned)
  return format.replace(/\\(.)|[A-Za-z]/g, (piece, literal?: string) => literal ?? django[piece] ?? piece)
}

const replaced = (format: string, pieces: RegExp, table: Record<string, string>) =>
  format.replace(pieces, (piece) => table[piece] ?? piece)

/** The number of the week as ISO 8601 counts it, which the library cannot tell: its Thursday says of which year. */
export function withWeek(strftime: string, dayOf: () => string): string {
  if (!strftime.includes('%V')) return strftime
  const day = new Date(dayOf())
  day.setUTCDate(day.getUTCDate() + 4 - (day.getUTCDay() || 7))
  const daysBefore = (day.getTime() - Date.UTC(day.getUTCFullYear(), 0, 1)) / 86_400_000
  return strftime.replaceAll('%V', String(Math.floor(daysBefore / 7) + 1))
}
