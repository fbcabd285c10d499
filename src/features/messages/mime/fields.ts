// Header fields, folded and ready for the wire. Nothing is checked here but the length of a line.
import { encodedWords } from './words.ts'

export type MailAddress = { email: string; name?: string }

const foldAt = 76
const longestLine = 998
const longestPlainWord = 60
const longestPlainName = 64

const printable = /^[ -~]*$/
const printableOrTab = /^[\t -~]*$/
const singlySpaced = /^[!-~]+(?: [!-~]+)*$/
const atoms = /^[\w!#$%&'*+/=?^`{|}~-]+(?: [\w!#$%&'*+/=?^`{|}~-]+)*$/

// Behind a name so long, the value starts on a line of its own.
const isLongName = (name: string) => name.length > 36

const roomBehind = (name: string) => (isLongName(name) ? foldAt - 1 : foldAt - 2 - name.length)

/** Each token brings the white space before it; a line is broken only in front of a token. */
export function fold(name: string, tokens: string[]): string {
  let out = `${name}:`
  let column = out.length
  let mayBreak = isLongName(name)
  for (const token of tokens) {
    if (mayBreak && column + token.length > foldAt) {
      out += '\r\n'
      column = 0
    }
    out += token
    column += token.length
    mayBreak = true
    if (column > longestLine) throw new Error(`The header ${name} has a part that fits on no line.`)
  }
  return `${out}\r\n`
}

const spaced = (words: string[]) => words.map((word) => ` ${word}`)

/** A field of text for people, which comes back exactly as given, spaces included. */
export function textField(name: string, text: string): string {
  if (text === '') return fold(name, [])
  if (singlySpaced.test(text) && !text.includes('=?')) {
    const words = text.split(' ')
    if (words.every((word) => word.length <= longestPlainWord)) return fold(name, spaced(words))
  }
  return fold(name, spaced(encodedWords(text, roomBehind(name))))
}

/** Any other field: ASCII stays as it is, except white space at both ends, which has no meaning there. */
export function plainField(name: string, value: string): string {
  // Some servers break the signature of a folded List-Unsubscribe.
  if (/^list-unsubscribe/i.test(name)) return fold(name, spaced([value.trim()]))
  if (!printableOrTab.test(value)) return fold(name, spaced(encodedWords(value, roomBehind(name))))
  const [first, ...rest] = value.trim().match(/[ \t]*[^ \t]+/g) ?? []
  return fold(name, first === undefined ? [] : [` ${first}`, ...rest])
}

export function addressField(name: string, addresses: MailAddress[]): string {
  const tokens = addresses.flatMap((address, i) => {
    const comma = i < addresses.length - 1 ? ',' : ''
    if (!address.name) return [` ${address.email}${comma}`]
    return [...phrase(address.name, roomBehind(name)), ` <${address.email}>${comma}`]
  })
  return fold(name, tokens)
}

function phrase(name: string, room: number): string[] {
  // "=?" would be decoded by the reader, in a quoted-string too, though RFC 2047 §5 forbids it.
  const stays = name.length <= longestPlainName && !name.includes('=?')
  if (stays && atoms.test(name)) return spaced(name.split(' '))
  if (stays && printable.test(name)) return [` "${name.replace(/["\\]/g, '\\$&')}"`]
  return spaced(encodedWords(name, room))
}

/** RFC 5322 §3.3. */
export function dateField(date: Date): string {
  return `Date: ${date.toUTCString().replace('GMT', '+0000')}\r\n`
}
