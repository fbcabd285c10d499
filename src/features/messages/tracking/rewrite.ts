import { locationOf } from '../../../kernel/location.ts'
import { type Attribute, scanTags, type Tag } from './scan-html.ts'

export type Rewriting = {
  /** The tracked address for a link; without it, links stay. */
  click?: (url: string) => string
  /** Links that stay, such as those for unsubscribing. */
  except?: (url: string) => boolean
  pixelUrl?: string
}

/** Puts tracked links and the open pixel into a message, and changes nothing else. */
export function rewriteHtml(html: string, { click, except, pixelUrl }: Rewriting): string {
  const changes: Change[] = []
  let bodyEnd = html.length
  scanTags(html, isOfInterest, (tag) => {
    if (tag.isEnd) bodyEnd = tag.name === 'body' ? tag.start : bodyEnd
    else if (click && tag.name !== 'body') changes.push(...linkChange(html, tag, { click, except }))
  })
  if (pixelUrl) insertInOrder(changes, { start: bodyEnd, end: bodyEnd, text: pixel(pixelUrl) })
  return applied(html, changes)
}

/** Every http(s) link of a message once, in the order of their first appearance, the untracked ones included. */
export function linksOf(html: string): string[] {
  const links = new Set<string>()
  scanTags(html, isLink, ({ isEnd, attributes }) => {
    const href = isEnd ? undefined : attributes.find(({ name }) => name === 'href')
    const url = href && webAddress(html, href)
    if (url) links.add(url)
  })
  return [...links]
}

type Change = { start: number; end: number; text: string }

export const isLink = (name: string) => name === 'a' || name === 'area'
const isOfInterest = (name: string) => isLink(name) || name === 'body'

type LinkRule = { click: (url: string) => string; except: Rewriting['except'] }

function linkChange(html: string, { attributes }: Tag, { click, except }: LinkRule): Change[] {
  // Of two attributes of one name the first counts.
  const href = attributes.find(({ name }) => name === 'href')
  const url = href && webAddress(html, href)
  if (!url || isUntracked(html, attributes) || except?.(url)) return []
  const address = encoded(click(url))
  return [{ start: href.start, end: href.end, text: href.quote ? address : `"${address}"` }]
}

function isUntracked(html: string, attributes: Attribute[]): boolean {
  if (attributes.some(({ name }) => name === 'data-no-track')) return true
  const list = attributes.find(({ name }) => name === 'class')
  return list !== undefined && html.slice(list.start, list.end).split(/\s+/).includes('no-track')
}

// What a token can hold at most, in letters of three bytes. Longer links stay as they are.
const longestLink = 2_000

// A browser drops line breaks and tabs inside an address and blanks around it. What no browser could follow is none.
function webAddress(html: string, { start, end }: Attribute): string | undefined {
  const url = decodedText(html.slice(start, end))
    ?.replace(/[\t\n\r]/g, '')
    .trim()
  if (url === undefined || url.length > longestLink || !/^https?:\/\/\P{Cc}*$/iu.test(url)) return undefined
  return locationOf(url) && url
}

const named: Record<string, string> = { amp: '&', quot: '"', apos: "'", lt: '<', gt: '>', nbsp: '\u00a0' }

/** Nothing where a name stands that is not known here: a browser may read it as another letter. */
function decodedText(text: string): string | undefined {
  if (!text.includes('&')) return text
  let isKnown = true
  const decoded = text.replace(
    // A number counts without its semicolon, too.
    /&(?:#(\d{1,7})(?!\d);?|#x([\da-f]{1,6})(?![\da-f]);?|([a-z]\w*);)/gi,
    (whole, decimal, hexadecimal, name) => {
      if (!name) return character(decimal ? Number(decimal) : Number.parseInt(hexadecimal, 16)) ?? whole
      isKnown &&= Object.hasOwn(named, name.toLowerCase())
      return named[name.toLowerCase()] ?? whole
    },
  )
  return isKnown ? decoded : undefined
}

const character = (code: number) => (code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : undefined)

const reserved: Record<string, string> = {
  '&': '&amp;',
  '"': '&quot;',
  "'": '&#39;',
  '<': '&lt;',
  '>': '&gt;',
}

/** As it stands in an attribute. */
export const encoded = (text: string) => text.replace(/[&"'<>]/g, (found) => reserved[found] ?? found)

const pixel = (url: string) =>
  `<img src="${encoded(url)}" width="1" height="1" alt="" style="display:block;width:1px;height:1px;border:0">`

function insertInOrder(changes: Change[], change: Change): void {
  const behind = changes.findIndex(({ start }) => start >= change.start)
  changes.splice(behind < 0 ? changes.length : behind, 0, change)
}

function applied(html: string, changes: Change[]): string {
  let text = ''
  let at = 0
  for (const change of changes) {
    text += html.slice(at, change.start) + change.text
    at = change.end
  }
  return text + html.slice(at)
}
