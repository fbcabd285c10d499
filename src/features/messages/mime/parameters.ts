// File names as parameters, RFC 2231 with the fallback of older readers.
import { hexOf } from './words.ts'

const plain = /^[\w .()+,@#&'=!-]{1,60}$/
const attributeCharacter = /^[A-Za-z0-9!#$&+.^_`|~-]$/
const longestLine = 76
const longestFallback = 60

/** The filename parameters of a Content-Disposition, each with the space before it. */
export function filenameParameters(filename: string): string[] {
  if (filename === '') return []
  if (plain.test(filename)) return [` filename="${filename}"`]
  const pieces = Array.from(filename, percent)
  const whole = ` filename*=UTF-8''${pieces.join('')}`
  return whole.length < longestLine ? [whole] : sections(pieces)
}

// A semicolon follows each section, so it stays one column short. A code point is not split over two.
function sections(pieces: string[]): string[] {
  const out: string[] = []
  const start = (n: number) => ` filename*${n}*=${n === 0 ? "UTF-8''" : ''}`
  let section = start(0)
  for (const piece of pieces) {
    if (section.length + piece.length >= longestLine) {
      out.push(section)
      section = start(out.length)
    }
    section += piece
  }
  return [...out, section]
}

const percent = (point: string) => (attributeCharacter.test(point) ? point : hexOf(point, '%'))

/** An ASCII name for readers that do not know RFC 2231, its ending kept. */
export function fallbackName(filename: string): string {
  const name = Array.from(filename, (point) => (plain.test(point) ? point : '_')).join('')
  if (name.length <= longestFallback) return name
  const ending = /\.\w{1,10}$/.exec(name)?.[0] ?? ''
  return name.slice(0, longestFallback - ending.length) + ending
}
