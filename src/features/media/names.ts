// What an image is called. It is shown to people and written into headers, and never becomes a path.
import { oneLine } from '../../kernel/v3/lenient.ts'

const longestName = 255

/** The last part of whatever was given, without what cannot be seen or turns the text around. */
export function readName(given: string | null | undefined, fallback: string): string {
  const last = (given ?? '').split(/[/\\]/).at(-1) ?? ''
  const plain = oneLine(last).replaceAll(/[\p{Cf}\p{Co}\p{Cn}]/gu, '')
  const name = Array.from(plain).slice(0, longestName).join('').trim()
  return /^\.*$/.test(name) ? fallback : name
}

export function nameInUrl(url: string): string {
  const part = new URL(url).pathname.split('/').at(-1) ?? ''
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** RFC 6266, with the ending that is right for the type whatever the name says. */
export function inlineDisposition(name: string, ending: string): string {
  const whole = `${name.replace(/\.\w{1,5}$/, '')}.${ending}`
  const ascii = whole.replaceAll(/[^\w .()+@-]/g, '_')
  if (ascii === whole) return `inline; filename="${ascii}"`
  const encoded = encodeURIComponent(whole).replaceAll(/['()*]/g, (c) => `%${c.charCodeAt(0).toString(16)}`)
  return `inline; filename="${ascii}"; filename*=UTF-8''${encoded}`
}
