import { countOf, type PureFilter } from './counted.ts'
import { escapeHtmlOnce, printed } from './values.ts'

/** Filters over markup, whose result is escaped like that of others unless it was called safe. */
export const markupFilters: Record<string, PureFilter> = {
  removetags: (value, names) => withoutTags(printed(value), printed(names)),
  truncatechars_html: (value, most) => shortenedHtml(printed(value), character, countOf(most), '…'),
  truncatewords_html: (value, most) => shortenedHtml(printed(value), word, countOf(most), ' …'),
}

/** Of a text that is escaped on the way, and of one that was called safe. */
type Escape = (text: string) => string

const makers: Record<string, (written: Escape) => PureFilter> = {
  linebreaksbr: (written) => (value) => broken(written(printed(value))),
  newline_to_br: (written) => (value) => broken(written(printed(value))),
  linebreaks: (written) => (value) => paragraphs(written(printed(value))),
  urlize: (written) => (value) => linked(printed(value), written),
  urlizetrunc: (written) => (value, most) => linked(printed(value), written, countOf(most)),
}

const all = (named: (name: string) => string, written: Escape) =>
  Object.fromEntries(Object.entries(makers).map(([name, make]) => [named(name), make(written)]))

/** What a filter is called where its value was called safe before: no name that a template could write. */
export const safeName = (name: string) => (Object.hasOwn(makers, name) ? `safe ${name}` : name)

/** Filters that make markup of text. */
export const markingFilters: Record<string, PureFilter> = {
  ...all((name) => name, escapeHtmlOnce),
  ...all(safeName, (text) => text),
}

const broken = (text: string) => text.replace(/\r?\n/g, '<br />\n')

function paragraphs(text: string): string {
  const parts = text.replace(/\r\n?/g, '\n').split(/\n{2,}/)
  return parts.map((part) => `<p>${part.replaceAll('\n', '<br />')}</p>`).join('\n\n')
}

const tag = /<\/?([a-z][\w-]*)(?:[\s/][^<>]*)?>/gi

function withoutTags(text: string, names: string): string {
  const unwanted = new Set(names.toLowerCase().split(/[\s,]+/))
  return text.replace(tag, (found, name: string) => (unwanted.has(name.toLowerCase()) ? '' : found))
}

const unclosed = new Set('area base br col embed hr img input link meta source track wbr'.split(' '))

const character = /(<[^<>]*>)|(&[^;\s<&]{1,30};|.)/gsu
const word = /(<[^<>]*>)|([^\s<]+)|./gsu

/** Keeps so much of the text, the end counted or not. What was open is closed, and markup does not count. */
function shortenedHtml(text: string, unit: RegExp, most: number, ending: string): string {
  const open: string[] = []
  const kept = unit === character ? most - ending.length : most
  let short: string | undefined
  let count = 0
  for (const { 1: markup, 2: piece, index } of text.matchAll(unit)) {
    if (markup) follow(open, markup)
    if (!piece) continue
    if (count === Math.max(kept, 0)) short ??= text.slice(0, index).trimEnd() + ending + closing(open)
    if (++count > most) return short ?? text
  }
  return text
}

/** What is open after a tag. */
function follow(open: string[], markup: string): void {
  const [, slash, name = ''] = /^<(\/?)([a-z][\w-]*)/i.exec(markup) ?? []
  if (slash && open.at(-1) === name) open.pop()
  if (!slash && name && !markup.endsWith('/>') && !unclosed.has(name.toLowerCase())) open.push(name)
}

const closing = (open: string[]) =>
  open
    .toReversed()
    .map((name) => `</${name}>`)
    .join('')

const address = /^(?:https?:\/\/|www\.)[^\s<>"']+$/i
const mailbox = /^[\w.+-]{1,64}@[a-z\d-]{1,63}(?:\.[a-z\d-]{1,63}){1,8}$/i

/** Addresses of the web and of mail become links. What is behind a sentence does not belong to them. */
function linked(text: string, written: Escape, most = Number.POSITIVE_INFINITY): string {
  return text
    .split(/(\s+)/)
    .map((piece) => {
      const [, before = '', inner = '', after = ''] =
        /^([(<"']{0,9})(.*?)([.,:;!?)>"']{0,9})$/s.exec(piece) ?? []
      const target = targetOf(inner)
      if (!target) return written(piece)
      const shown = inner.length > most ? `${inner.slice(0, Math.max(most - 1, 0))}…` : inner
      const link = `<a href="${escapeHtmlOnce(target)}" rel="nofollow">${escapeHtmlOnce(shown)}</a>`
      return written(before) + link + written(after)
    })
    .join('')
}

function targetOf(word: string): string | undefined {
  if (address.test(word)) return word.toLowerCase().startsWith('http') ? word : `http://${word}`
  return mailbox.test(word) ? `mailto:${word}` : undefined
}
