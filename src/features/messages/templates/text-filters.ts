import { toValue } from 'liquidjs'
import { countOf, numberOf, type PureFilter } from './counted.ts'
import { printed, sizeOf } from './values.ts'
import { countWork } from './work.ts'

/** Filters of the compatible provider's language that lay text out, or ask what is in a value. */
export const textFilters: Record<string, PureFilter> = {
  addslashes: (value) => printed(value).replace(/[\\"']/g, '\\$&'),
  center: (value, width) => centred(printed(value), countOf(width)),
  ljust: (value, width) => widened(printed(value), countOf(width), 'padEnd'),
  rjust: (value, width) => widened(printed(value), countOf(width), 'padStart'),
  wordwrap: (value, width) => wrapped(printed(value), countOf(width)),
  linenumbers: (value) => mapLines(printed(value), (line, at) => `${at + 1}. ${line}`),
  truncatewords: (value, most, ending) => firstWords(printed(value), countOf(most ?? 15), ending),
  phone2numeric: (value) => printed(value).replace(/[a-z]/gi, keyOf),
  make_list: (value) => [...printed(value)],
  first: (value) => endOf(toValue(value), 0),
  last: (value) => endOf(toValue(value), -1),
  stringformat: (value, form) => formatted(value, printed(form)),
  intcomma: (value) => printed(value).replace(/^[+-]?\d{1,100}(?!\d)/, withCommas),
  escapejs: (value) => printed(value).replace(/[\p{Cc}\\'"<>&=;`\u2028\u2029-]/gu, asUnicode),
  iriencode: (value) => encodeURI(printed(value).toWellFormed()).replace(/%(25|5B|5D)/g, decodeURIComponent),
  float: (value) => numberOf(value) || 0,
  integer: (value) => Math.trunc(numberOf(value)) || 0,
  divisibleby: (value, by) => numberOf(value) % numberOf(by) === 0,
  get_digit: (value, at) => digitOf(value, countOf(at)),
  length_is: (value, length) => sizeOf(toValue(value)) === numberOf(length),
  random: (value) => anyOf(toValue(value)),
}

/** Of a text a whole character, which may take two places. */
function endOf(value: unknown, at: 0 | -1): unknown {
  if (Array.isArray(value)) return value.at(at)
  if (typeof value !== 'string') return ''
  return [...(at === 0 ? value.slice(0, 2) : value.slice(-2))].at(at)
}

function widened(text: string, width: number, pad: 'padStart' | 'padEnd'): string {
  countWork(width)
  return text[pad](width)
}

function centred(text: string, width: number): string {
  const missing = Math.max(width - text.length, 0)
  const left = Math.floor(missing / 2) + (missing & width & 1)
  return widened(widened(text, text.length + left, 'padStart'), width, 'padEnd')
}

const mapLines = (text: string, change: (line: string, at: number) => string) =>
  text.split(/\r?\n/).map(change).join('\n')

/** Breaks between words only: a long one stays whole. */
function wrapped(text: string, width: number): string {
  return mapLines(text, (line) => {
    const [first = '', ...words] = line.split(' ')
    let column = first.length
    const rest = words.map((word) => {
      const isBroken = column + 1 + word.length > width
      column = isBroken ? word.length : column + 1 + word.length
      return (isBroken ? '\n' : ' ') + word
    })
    return first + rest.join('')
  })
}

function firstWords(text: string, most: number, ending: unknown): string {
  const words = text.split(/\s+/).filter(Boolean)
  if (words.length <= most) return text
  return words.slice(0, most).join(' ') + (ending === undefined ? ' …' : printed(ending))
}

const keys = '22233344455566677778889999'
const keyOf = (letter: string) => keys[letter.toLowerCase().charCodeAt(0) - 97] ?? letter

const withCommas = (digits: string) => digits.replace(/\d(?=(?:\d{3})+$)/g, '$&,')

const asUnicode = (sign: string) => `\\u${sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`

/** Counted from the right, beginning with one. */
function digitOf(value: unknown, at: number): unknown {
  const digits = printed(value)
  return at > 0 && /^\d+$/.test(digits) ? Number(digits.at(-at) ?? 0) : value
}

function anyOf(value: unknown): unknown {
  const items = Array.isArray(value) ? value : [...printed(value)]
  return items[Math.floor(Math.random() * items.length)]
}

const format = /^(?:([^%]*)%)?([-+ 0#]{0,5})(\d{0,6})(?:\.(\d{0,6}))?([a-zA-Z])(.*)$/s

/** One value in the form of C and Python, with or without the sign for it. What is no form changes nothing. */
function formatted(value: unknown, form: string): string {
  const [, before = '', flags = '', width = '', places, kind = '', after = ''] =
    format.exec(form.slice(0, 100)) ?? []
  const made = kind ? formOf(value, kind, places === undefined ? undefined : Number(places)) : undefined
  if (made === undefined) return printed(value)
  const signed = flags.includes('+') && /[dfi]/.test(kind) && !made.startsWith('-') ? `+${made}` : made
  if (flags.includes('-')) return before + widened(signed, Number(width), 'padEnd') + after
  const [sign = '', digits = ''] = /^([+-]?)(.*)$/s.exec(signed)?.slice(1) ?? []
  if (!flags.includes('0') || kind === 's') return before + widened(signed, Number(width), 'padStart') + after
  countWork(Number(width))
  return before + sign + digits.padStart(Number(width) - sign.length, '0') + after
}

function formOf(value: unknown, kind: string, places: number | undefined): string | undefined {
  if (kind === 's' || kind === 'v') return [...printed(value)].slice(0, places).join('')
  const number = numberOf(value)
  if (!Number.isFinite(number)) return 'dfieExXo'.includes(kind) ? '' : undefined
  const digits = Math.min(places ?? 6, 20)
  if (kind === 'f') return number.toFixed(digits)
  if (kind.toLowerCase() === 'e')
    return kind === 'E' ? number.toExponential(digits).toUpperCase() : number.toExponential(digits)
  const base = { d: 10, i: 10, x: 16, X: 16, o: 8 }[kind]
  if (!base) return undefined
  const whole = Math.trunc(number).toString(base)
  return kind === 'X' ? whole.toUpperCase() : whole
}
