// The text part of a message that was given as HTML only.
import { hash } from 'node:crypto'
import { compile, type FormatCallback } from 'html-to-text'
import { LRUCache } from 'lru-cache'

// The parser takes time with the square of the depth: a megabyte of unclosed tags would hold the process for a minute.
const limits = { characters: 500_000, tags: 10_000, depth: 150 }

const cell: FormatCallback = (element, walk, builder) => {
  walk(element.children, builder)
  builder.addInline(' ')
}

const image: FormatCallback = (element, _walk, builder) => {
  if (element.attribs.alt) builder.addInline(element.attribs.alt)
}

// They begin a line of their own in every browser; the library knows fewer. Most tables of a mail are layout: a row
// becomes a line, its cells stand side by side.
const blocks =
  'address caption center dd details dl dt fieldset figcaption figure legend option summary tr'.split(' ')

const convert = compile({
  wordwrap: false,
  limits: { maxDepth: 300, ellipsis: '' },
  formatters: { cell, altText: image },
  selectors: [
    { selector: 'a', options: { hideLinkHrefIfSameAsText: true, linkBrackets: ['[', ']'] } },
    { selector: 'img', format: 'altText' },
    ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6'].map((selector) => ({ selector, options: { uppercase: false } })),
    { selector: 'td', format: 'cell' },
    { selector: 'th', format: 'cell' },
    ...blocks.map((selector) => ({
      selector,
      format: 'block',
      options: { leadingLineBreaks: 1, trailingLineBreaks: 1 },
    })),
    { selector: 'head', format: 'skip' },
    { selector: 'title', format: 'skip' },
    // The preview line, hidden in the HTML.
    { selector: '[style*="display:none"i]', format: 'skip' },
    { selector: '[style*="display: none"i]', format: 'skip' },
  ],
})

const cache = new LRUCache<string, string>({
  max: 2_000,
  maxSize: 16 * 1024 * 1024,
  sizeCalculation: (text) => text.length + 100,
})

/** Links as text [address], images by their alternative text. HTML beyond any mail's size is cut. */
export function textFromHtml(html: string): string {
  const key = hash('sha256', html, 'base64')
  const known = cache.get(key)
  if (known !== undefined) return known
  const text = convert(bounded(html)).trim().toWellFormed()
  cache.set(key, text)
  return text
}

function bounded(html: string): string {
  const lean = html.replace(/data:[^\s"'()<>]{200,}/gi, 'data:,').slice(0, limits.characters)
  return lean.slice(0, endOfModestPart(lean))
}

// These have no inside, or end where the next of them begins.
const shallow = new Set(
  'area base br col embed hr img input link meta source track wbr p li td th tr tbody thead dt dd option'.split(
    ' ',
  ),
)

// Each of these indents every line inside, so a few levels of them count for many.
const indenting = new Set(['blockquote', 'ol', 'ul'])

/** Where the HTML has too many tags, or tags too deep; never reckons it less deep than the parser does. */
function endOfModestPart(html: string): number {
  const open = new Map<string, number>()
  let [depth, tags] = [0, 0]
  for (const match of html.matchAll(/<(\/?)([a-z][^\s/>]*)/gi)) {
    const name = (match[2] ?? '').toLowerCase()
    const already = open.get(name) ?? 0
    if (++tags > limits.tags) return match.index
    if (shallow.has(name)) continue
    const weight = indenting.has(name) ? 5 : 1
    if (match[1] === '') {
      depth += weight
      if (depth > limits.depth) return match.index
      open.set(name, already + 1)
    } else if (already > 0) {
      depth -= weight
      open.set(name, already - 1)
    }
  }
  return html.length
}
