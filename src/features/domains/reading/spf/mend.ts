// What a person meant by a term that receivers do not understand, where that is evident.
import { isTerm, rangeOf } from './parse.ts'

/** The terms of a text that is an SPF record, or was meant as one; and what cannot be told from it. */
export function termsOf(text: string): { terms: string[]; left: string[] } {
  const words = decoded(text)
    .replace(start, '')
    // A space too many behind the colon, where a name or an address follows.
    .replaceAll(/\b(include|ip4|exists|redirect)([:=])\s+(?![-+~?]?all\b)(?=[^\s:=]+(?:\s|$))/gi, '$1$2')
    .split(/\s+/)
    .filter((word) => word !== '')
  const mended = words.map((word) => ({ word, meant: isMeant(word) ? [word] : meantBy(word) }))
  return {
    terms: mended.flatMap(({ meant }) => meant ?? []),
    left: mended.flatMap(({ word, meant }) => (meant ? [] : [word])),
  }
}

/** DNS carries octets, each of which is read as a character. */
const decoded = (text: string) => Buffer.from(text, 'latin1').toString('utf8')

/** As modifiers these are understood, and count for nothing. */
const isMeant = (word: string) => isTerm(word) && !/^(?:v|include|ip4|ip6)=/i.test(word)

const start = /^\W*(?:v\s*=\W*)?spf1\b/i
const dashes = /[\u2010-\u2015\u2212]/g

/** Undefined: nothing that is certain. */
function meantBy(word: string): string[] | undefined {
  const pieces = word
    .replaceAll(dashes, '-')
    .split(/[,;"'\u201c\u201d]+/)
    .filter((piece) => piece !== '' && !/^v=spf1$/i.test(piece))
  const meant = pieces.map(corrected)
  return meant.every(isMeant) ? meant : undefined
}

function corrected(piece: string): string {
  const plain = piece
    .replace(/[./]+$/, '')
    .replace(/^([-+~?]?)ipv([46]):/i, '$1ip$2:')
    .replace(/^([-+~?]?)(include|ip4|ip6)=/i, '$1$2:')
    .replace(/^redirect:/i, 'redirect=')
  const [, qualifier = '', address = ''] = /^([-+~?]?)(?:(?:ip[46]?|include):)?(.*)$/i.exec(plain) ?? []
  const range = rangeOf(address)
  return range ? `${qualifier}${range[0].kind() === 'ipv4' ? 'ip4' : 'ip6'}:${address}` : plain
}
