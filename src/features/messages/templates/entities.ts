// Editors of HTML write the signs inside a tag as they write all others: {{ x|default:&quot;you&quot; }} and
// {% if n &gt; 1 %}. Outside of quotes an entity means nothing else here.

const tags = /\{\{[^{}]*\}\}|\{%[^{}]*%\}/g
const raw = /^\{%-?\s*(end)?raw(?![\w-])/

/** The source with the entities of its tags decoded; what stands outside of tags, or is raw, stays as it is. */
export function withoutEntities(source: string): string {
  if (!source.includes('&')) return source
  let isRaw = false
  return source.replace(tags, (tag) => {
    const decoded = tag.includes('&') ? decodedTag(tag) : tag
    const switched = raw.exec(decoded)
    if (switched) isRaw = switched[1] === undefined
    return isRaw && !switched ? tag : decoded
  })
}

const pieces = /&(?:#\w{1,8}|[a-z]{1,8});|[\s\S]/gi

/** What stands between written quotes is the author's text. A tag with an entity that is not known stays whole. */
function decodedTag(tag: string): string {
  let [text, quote, isWritten] = ['', '', false]
  for (const [piece] of tag.matchAll(pieces)) {
    const sign = quote && isWritten ? piece : signOf(piece)
    if (sign === undefined) return tag
    text += sign
    if (quote ? sign === quote && isWritten === (sign === piece) : sign === '"' || sign === "'") {
      quote = quote ? '' : sign
      isWritten = sign === piece
    }
  }
  return text
}

const signs: Record<string, string> = { amp: '&', apos: "'", gt: '>', lt: '<', nbsp: '\u00a0', quot: '"' }
const allowed = new Set(Object.values(signs))

function signOf(piece: string): string | undefined {
  if (piece.length === 1) return piece
  const name = piece.slice(1, -1).toLowerCase()
  if (!name.startsWith('#')) return Object.hasOwn(signs, name) ? signs[name] : undefined
  const code = Number(name.startsWith('#x') ? `0x${name.slice(2)}` : name.slice(1))
  if (!(code > 0 && code <= 0x10ffff)) return undefined
  const sign = String.fromCodePoint(code)
  // A brace that was written as a number is meant as a sign of the text.
  return code >= 0xa0 || allowed.has(sign) ? sign : undefined
}
