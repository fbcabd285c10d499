// A scanner after the tokenizer of the HTML standard (section 13.2.5), as far as finding tags and attributes needs it.
// It goes forward only, so that its time grows with the length of the text and not faster.

/** Offsets of an attribute's value, without quotes; `quote` is empty where there are none. */
export type Attribute = { name: string; start: number; end: number; quote: '' | '"' | "'" }

export type Tag = { name: string; isEnd: boolean; start: number; end: number; attributes: Attribute[] }

// What stands inside them is not markup.
const rawText = new Set(['script', 'style', 'textarea', 'title', 'xmp', 'iframe', 'noembed', 'noframes'])

export const isRawText = (name: string) => rawText.has(name)

/**
 * Calls back for each tag outside comments and raw text. Attributes are gathered for the wanted names only. Gives where
 * what never ends begins, a comment, a tag or raw text, and minus one where all ends.
 */
export function scanTags(
  html: string,
  isWanted: (name: string) => boolean,
  found: (tag: Tag) => void,
): number {
  let at = html.indexOf('<')
  while (at >= 0) {
    const next = html.charCodeAt(at + 1)
    const isEnd = next === slash
    const nameAt = isEnd ? at + 2 : at + 1
    let end = at + 1
    if (isLetter(html.charCodeAt(nameAt)))
      end = scanTag(html, { start: at, nameAt, isEnd }, { isWanted, found })
    else if (next === exclamation || next === question || isEnd) end = afterDeclaration(html, at)
    if (end < 0) return at
    at = html.indexOf('<', end)
  }
  return -1
}

const [slash, exclamation, question, equals, greater] = [47, 33, 63, 61, 62]

const isLetter = (code: number) => (code | 32) >= 97 && (code | 32) <= 122

const isSpace = (code: number) => code === 32 || (code >= 9 && code <= 13 && code !== 11)

type Opening = { start: number; nameAt: number; isEnd: boolean }
type Listener = { isWanted: (name: string) => boolean; found: (tag: Tag) => void }

// Where the tag never ends, neither does anything behind it: minus one stops the scan.
function scanTag(html: string, { start, nameAt, isEnd }: Opening, { isWanted, found }: Listener): number {
  let at = nameAt
  while (at < html.length && !endsName(html.charCodeAt(at))) at += 1
  const name = html.slice(nameAt, at).toLowerCase()
  const attributes: Attribute[] | undefined = isWanted(name) ? [] : undefined
  const end = scanAttributes(html, at, attributes)
  if (end < 0) return -1
  if (attributes) found({ name, isEnd, start, end, attributes })
  return !isEnd && rawText.has(name) ? endOfRawText(html, name, end) : end
}

const endsName = (code: number) => isSpace(code) || code === slash || code === greater

function scanAttributes(html: string, from: number, into: Attribute[] | undefined): number {
  let at = from
  while (at < html.length) {
    const code = html.charCodeAt(at)
    if (code === greater) return at + 1
    if (isSpace(code) || code === slash) at += 1
    else at = scanAttribute(html, at, into)
  }
  return -1
}

function scanAttribute(html: string, from: number, into: Attribute[] | undefined): number {
  // An equals sign in first place belongs to the name.
  let at = from + 1
  while (at < html.length && !endsName(html.charCodeAt(at)) && html.charCodeAt(at) !== equals) at += 1
  const nameEnd = at
  while (isSpace(html.charCodeAt(at))) at += 1
  const value =
    html.charCodeAt(at) === equals
      ? valueAt(html, at + 1)
      : { start: nameEnd, end: nameEnd, quote: '' as const }
  into?.push({ name: html.slice(from, nameEnd).toLowerCase(), ...value })
  return value.end + value.quote.length
}

function valueAt(html: string, from: number): Omit<Attribute, 'name'> {
  let start = from
  while (isSpace(html.charCodeAt(start))) start += 1
  const quote = html[start]
  if (quote === '"' || quote === "'") {
    const close = html.indexOf(quote, start + 1)
    return { start: start + 1, end: close < 0 ? html.length : close, quote }
  }
  let end = start
  while (end < html.length && !isSpace(html.charCodeAt(end)) && html.charCodeAt(end) !== greater) end += 1
  return { start, end, quote: '' }
}

// Conditional comments of Outlook are comments and are left alone with all they hold.
function afterDeclaration(html: string, at: number): number {
  if (!html.startsWith('<!--', at)) return after(html, />/g, at + 2)
  return after(html, /--!?>/g, at + 2)
}

/** What is in a comment nobody sees; what Outlook alone sees is in one, too. */
export function withoutComments(html: string): string {
  let [kept, at] = ['', 0]
  while (at >= 0) {
    const start = html.indexOf('<!--', at)
    if (start < 0) return kept + html.slice(at)
    kept += html.slice(at, start)
    at = afterDeclaration(html, start)
  }
  return kept
}

function endOfRawText(html: string, name: string, from: number): number {
  const close = new RegExp(`</${name}(?=[\\s/>])`, 'gi')
  close.lastIndex = from
  return close.exec(html)?.index ?? -1
}

function after(html: string, pattern: RegExp, from: number): number {
  pattern.lastIndex = from
  return pattern.test(html) ? pattern.lastIndex : -1
}
