// The text of an SPF record (RFC 7208 §4.6.1, §5, §6, §7).
import ipaddr from 'ipaddr.js'
import { normalName } from '../reading.ts'

export type Range = [ipaddr.IPv4 | ipaddr.IPv6, number]

export type Term = {
  qualifier: '+' | '-' | '~' | '?'
  kind: 'all' | 'include' | 'a' | 'mx' | 'ptr' | 'ip4' | 'ip6' | 'exists'
  /** The name that is asked for; null: that of the record itself. */
  domain: string | null
  /** Of ip4 and ip6. */
  range: Range | null
  /** Lengths of the network, of `a` and `mx`. */
  bits: { ip4: number; ip6: number }
  text: string
}

export type SpfRecord = { terms: Term[]; redirect: string | null; text: string }

export const isSpf = (text: string) => /^v=spf1(?: |$)/i.test(text)

/** Meant as one and passed over by receivers: in quotes, with a space in front, with a semicolon. */
export const isAlmostSpf = (text: string) => !isSpf(text) && /^\W*(?:v\s*=\W*)?spf1\b/i.test(text)

/** The terms that count: those after `all` do not, nor does a redirect beside it. Or a sentence of what is wrong. */
export function parseSpf(text: string): SpfRecord | { fault: string } {
  if (/[^\u0020-\u007e]/.test(text))
    return { fault: 'it has tabs or other characters that are not plain ASCII text' }
  const words = text
    .split(' ')
    .slice(1)
    .filter((word) => word !== '')
  const [modifiers, mechanisms] = [words.filter(isModifier), words.filter((word) => !isModifier(word))]
  const read = mechanisms.map(readTerm)
  const fault = read.find((term) => 'fault' in term) ?? faultOfModifiers(modifiers)
  if (fault && 'fault' in fault) return fault
  const terms = read.filter((term) => 'kind' in term)
  const all = terms.findIndex(({ kind }) => kind === 'all')
  if (all >= 0) return { terms: terms.slice(0, all + 1), redirect: null, text }
  const redirect = valuesOf(modifiers, 'redirect')[0]
  return { terms, redirect: redirect === undefined ? null : normalName(redirect), text }
}

/** Whether receivers understand it. */
export const isTerm = (word: string) => !('fault' in parseSpf(`v=spf1 ${word}`))

const isModifier = (word: string) => /^[a-z][a-z0-9_.-]*=/i.test(word)

const valuesOf = (modifiers: string[], name: string) =>
  modifiers
    .filter((word) => word.toLowerCase().startsWith(`${name}=`))
    .map((word) => word.slice(name.length + 1))

function faultOfModifiers(modifiers: string[]): { fault: string } | undefined {
  for (const name of ['redirect', 'exp']) {
    const values = valuesOf(modifiers, name)
    if (values.length > 1) return { fault: `${name}= stands twice` }
    if (values[0] !== undefined && !isDomainSpec(values[0])) return notUnderstood(`${name}=${values[0]}`)
  }
  return undefined
}

const notUnderstood = (word: string) => ({ fault: `${JSON.stringify(word.slice(0, 100))} is not understood` })

const form = /^([-+~?]?)(all|include|a|mx|ptr|ip4|ip6|exists)(?:(:)([^ ]*))?$/i
const lengths = /^(.*?)(?:\/(\d{1,3}))?(?:\/\/(\d{1,3}))?$/

function readTerm(word: string): Term | { fault: string } {
  // A length may follow `a` and `mx` without a name between.
  const [, qualifier, name, colon, value] =
    form.exec(/^[-+~?]?(?:a|mx)\//i.test(word) ? word.replace('/', ':/') : word) ?? []
  if (name === undefined) return notUnderstood(word)
  const kind = name.toLowerCase() as Term['kind']
  const term = {
    qualifier: (qualifier || '+') as Term['qualifier'],
    kind,
    domain: null,
    range: null,
    bits: { ip4: 32, ip6: 128 },
    text: word,
  }
  const more = readValue(kind, colon === undefined ? undefined : (value ?? ''))
  return more ? { ...term, ...more } : notUnderstood(word)
}

function readValue(kind: Term['kind'], value: string | undefined): Partial<Term> | undefined {
  if (kind === 'all') return value === undefined ? {} : undefined
  if (kind === 'ip4' || kind === 'ip6') return readRange(kind, value ?? '')
  if (kind === 'a' || kind === 'mx') return readHost(value ?? '/32')
  if (value === undefined) return kind === 'ptr' ? {} : undefined
  return isDomainSpec(value) ? { domain: normalName(value) } : undefined
}

function readHost(value: string): Partial<Term> | undefined {
  const [, host = '', ip4 = '32', ip6 = '128'] = lengths.exec(value) ?? []
  const bits = { ip4: Number(ip4), ip6: Number(ip6) }
  if (bits.ip4 > 32 || bits.ip6 > 128) return undefined
  if (host === '') return value.startsWith('/') ? { bits } : undefined
  return isDomainSpec(host) ? { domain: normalName(host), bits } : undefined
}

function readRange(kind: 'ip4' | 'ip6', value: string): Partial<Term> | undefined {
  const range = rangeOf(value)
  return range && range[0].kind() === (kind === 'ip4' ? 'ipv4' : 'ipv6') ? { range } : undefined
}

/** An address or a network; undefined when it is none. */
export function rangeOf(value: string): Range | undefined {
  const [address = '', length, ...more] = value.split('/')
  const isPlain = ipaddr.IPv4.isValidFourPartDecimal(address) || ipaddr.IPv6.isValid(address)
  if (!isPlain || address.includes('%') || more.length > 0 || !/^(?:\d{1,3})?$/.test(length ?? ''))
    return undefined
  const parsed = ipaddr.parse(address)
  const longest = parsed.kind() === 'ipv4' ? 32 : 128
  const bits = length === undefined ? longest : length === '' ? Number.NaN : Number(length)
  return bits <= longest ? [parsed, bits] : undefined
}

const macros = /%(?:\{[slodiphcrtv]\d{0,3}r?[-.+,/_=]*\}|[%_-])/gi

const plainName = /^(?:[\x21-\x24\x26-\x2d\x2f-\x7e]+\.)+[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.?$/i

/** A name, in which macros may stand for what only a message knows. */
function isDomainSpec(value: string): boolean {
  const plain = value.slice(0, 256).replaceAll(macros, 'm')
  return value.length <= 255 && (plainName.test(plain) || (plain !== value && plainName.test(`${plain}.m`)))
}

export const hasMacro = (domain: string) => domain.includes('%')
