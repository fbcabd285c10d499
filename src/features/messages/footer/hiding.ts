// Elements that keep from readers what stands in them, as far as the HTML itself tells; style sheets are not read.
import { isRawText, type Tag } from '../tracking/scan-html.ts'

// What stands in them is shown only instead of them, or not as text with links.
const keepsBack = new Set(
  (
    'template noscript select datalist object applet audio video canvas frameset plaintext progress meter ' +
    'details dialog'
  ).split(' '),
)
const untilOpened = new Set(['details', 'dialog'])

export function hides(html: string, { name, attributes }: Tag): boolean {
  const has = (wanted: string) => attributes.some((one) => one.name === wanted)
  if (isRawText(name) || has('hidden')) return true
  if (keepsBack.has(name)) return !(untilOpened.has(name) && has('open'))
  // Of two attributes of one name the first counts.
  const style = attributes.find((one) => one.name === 'style')
  if (style === undefined) return false
  const written = html.slice(style.start, style.end)
  return mayHide.test(written) && isHidingStyle(written)
}

// Each tag of each message is asked: hardly any style is worth taking apart.
const mayHide = /display|visibility|mso-hide|opacity|overflow/i

function isHidingStyle(style: string): boolean {
  const declared = new Map(style.toLowerCase().split(';').map(declaration))
  const is = (name: string, pattern: RegExp) => pattern.test(declared.get(name) ?? '')
  if (is('display', /^none/) || is('visibility', /^(hidden|collapse)/) || is('mso-hide', /^all/)) return true
  if (is('opacity', zero)) return true
  return is('overflow', /^(hidden|clip)/) && sizes.some((name) => is(name, zero))
}

const zero = /^[0.]+(?:px|em|pt|%)?(?![\w.%])/
const sizes = ['height', 'max-height', 'width', 'max-width']

function declaration(written: string): [string, string] {
  const colon = written.indexOf(':')
  return [written.slice(0, colon).trim(), written.slice(colon + 1).trim()]
}
