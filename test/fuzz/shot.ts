// One request with its faults, written out to the last octet.
import type { Operation } from '../../src/kernel/operation.ts'
import type { Dice } from './dice.ts'
import { mutated } from './mutate.ts'
import { oddText } from './odd-values.ts'
import { type Samples, sampleOf } from './sample.ts'

export type Shot = {
  method: string
  /** Path and query as they go over the wire. */
  target: string
  headers: [name: string, value: string][]
  body: Buffer | undefined
  /** The body is shorter than it says: the connection ends before it does. */
  isCut?: true
}

export type Start = { op: Operation; path: string; body?: unknown }

export function makeShot(start: Start, samples: Samples, key: string): Shot {
  const { dice } = samples
  const { op } = start
  const [path = '', query = ''] = start.path.split('?')
  const body = op.body && bodyOf(start, samples)
  const target = pathOf(path, samples) + queryOf(op, query, samples)
  const shot: Shot = { method: methodOf(op, dice), target, headers: headersOf(key, dice), body: undefined }
  if (body !== undefined || dice.chance(0.03)) fill(shot, body ?? {}, dice)
  return shot
}

const methodOf = ({ method }: Operation, dice: Dice) =>
  dice.chance(0.99)
    ? method
    : dice.pick(['PATCH', 'OPTIONS', 'HEAD', 'PUT', 'DELETE', 'POST', 'TRACE', 'PURGE'])

function bodyOf({ op, body }: Start, samples: Samples): unknown {
  const { dice } = samples
  const isSampled = op.body && (body === undefined || dice.chance(0.5))
  const sampled = isSampled && op.body ? sampleOf(op.body, samples) : undefined
  const whole =
    isObject(body) && isObject(sampled) && dice.chance(0.6) ? { ...body, ...sampled } : (sampled ?? body)
  return mutated(whole, dice.chance(0.1) ? 0 : 1 + dice.below(3), dice)
}

const isObject = (value: unknown): value is object =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

/** One part of the path at times becomes something else; the first two are never an identifier. */
function pathOf(path: string, { dice, known }: Samples): string {
  const parts = path.split('/')
  if (!dice.chance(0.35) || parts.length < 4) return path
  const at = dice.chance(0.9) ? 3 + dice.below(parts.length - 3) : 1 + dice.below(parts.length - 1)
  const foreign = dice.chance(0.15) ? known('anything') : undefined
  parts[at] = foreign === undefined ? oddPart(parts[at] ?? '', dice) : encoded(String(foreign))
  return parts.join('/')
}

const rawParts = [
  '%',
  '%2',
  '%zz',
  '%00',
  '%c0%af',
  '%ff',
  '..',
  '.',
  '%2e%2e',
  '%2f',
  '..%2f..%2f',
  '',
  ';',
  ':id',
  '*',
  '#',
]

function oddPart(part: string, dice: Dice): string {
  const kind = dice.below(5)
  if (kind === 0) return dice.pick(rawParts)
  if (kind === 1) return part + dice.pick(rawParts)
  if (kind === 2)
    return dice.pick([
      '0',
      '-1',
      '1.5',
      '1e9',
      '9007199254740993',
      '99999999999999999999',
      '٣',
      '1%20',
      '0x1',
    ])
  return encoded(oddText(dice).slice(0, dice.pick([40, 8_000])))
}

const encoded = (text: string) => encodeURIComponent(text.toWellFormed())

function queryOf(op: Operation, query: string, samples: Samples): string {
  const { dice } = samples
  const parts = query ? [query] : []
  for (const [name, schema] of Object.entries(op.query?.properties ?? {})) {
    if (!dice.chance(0.25)) continue
    const value = sampleOf(schema, samples, name)
    for (const one of dice.chance(0.1) ? [value, value] : [value].flat())
      parts.push(`${name}=${encoded(String(one))}`)
  }
  if (dice.chance(0.4)) parts.push(oddPair(Object.keys(op.query?.properties ?? { x: 1 }), dice))
  return parts.length > 0 ? `?${parts.join('&')}` : ''
}

function oddPair(names: string[], dice: Dice): string {
  const name = dice.chance(0.85)
    ? dice.pick(names)
    : dice.pick(['__proto__', 'constructor', 'a[b][c]', '%00', '', 'zzz'])
  const value = dice.chance(0.15) ? dice.pick(rawParts) : encoded(oddText(dice).slice(0, 3_000))
  const brackets = dice.chance(0.1) ? dice.pick(['[]', '[0]', '[__proto__]', '[99999999]']) : ''
  const again = dice.chance(0.1) ? `&${name}=1` : ''
  return `${name}${brackets}=${value}${again}`
}

const oddHeaders: [string, string][] = [
  ['idempotency-key', 'x'.repeat(300)],
  ['idempotency-key', '\u00ff\u00e9'],
  ['idempotency-key', ''],
  ['x-request-id', '<fuzz-mark a="1">'],
  ['accept', 'text/html'],
  ['accept-encoding', 'gzip;q=9'],
  ['accept-language', '*;q=nonsense,\u00ff'],
  ['host', 'evil.example'],
  ['x-forwarded-for', '127.0.0.1, \u00ff'],
  ['x-forwarded-host', 'evil.example'],
  ['forwarded', 'for="[::1'],
  ['expect', '200-nothing'],
  ['upgrade', 'websocket'],
  ['content-encoding', 'gzip'],
  ['range', 'bytes=0-0'],
  ['cookie', 'a=b; __proto__=1'],
  ['user-agent', '\u00e9'.repeat(2_000)],
  ['__proto__', 'x'],
  ['if-none-match', '*'],
]

export function headersOf(key: string, dice: Dice): Shot['headers'] {
  const headers: Shot['headers'] = [
    ['host', 'test'],
    ['api-key', key],
  ]
  if (dice.chance(0.12)) headers.push(dice.pick(oddHeaders))
  if (dice.chance(0.05)) headers.push(['idempotency-key', `key-${dice.below(20)}`])
  if (dice.chance(0.01)) headers.push(['api-key', 'another'])
  return headers
}

const types = [
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/json; charset=utf-16',
  'application/json;;;',
  'x',
  'application/vnd.api+json',
]

/** Content type and octets of the body, at times broken. */
function fill(shot: Shot, body: unknown, dice: Dice): void {
  const type = dice.chance(0.97) ? 'application/json' : dice.pick(types)
  shot.headers.push(['content-type', type])
  const text = brokenText(JSON.stringify(body) ?? '', dice)
  shot.body = dice.chance(0.01) ? brokenOctets(text, dice) : Buffer.from(text)
  if (dice.chance(0.003)) shot.isCut = true
}

const numerals = [
  '1e400',
  '-1e400',
  '01',
  '1.',
  '.5',
  '1E2',
  '-0',
  '0.1e-5',
  '123456789012345678901234567890',
  'NaN',
]

function brokenText(text: string, dice: Dice): string {
  const kind = dice.below(60)
  if (kind === 0) return text.slice(0, dice.below(text.length))
  if (kind === 1) return text.replace(/\b\d{1,20}(?=[,}\]])/, dice.pick(numerals))
  if (kind === 2) return text.replace('{', `{"__proto__":{"a":1},"constructor":1,`).replace(',}', '}')
  if (kind === 3) return text.replace(/"(\w+)":/, '"$1":null,"$1":')
  if (kind === 4) return dice.pick(['[', '{"a":']).repeat(dice.pick([90, 101, 20_000]))
  if (kind === 5) return `${'['.repeat(95)}${text}${']'.repeat(95)}`
  if (kind === 6)
    return dice.pick([
      '',
      'null',
      '[]',
      '""',
      '0',
      'true',
      '\ufeff{}',
      '{}{}',
      '[null]',
      `"${'x'.repeat(1_100_000)}"`,
    ])
  return text
}

function brokenOctets(text: string, dice: Dice): Buffer {
  const octets = Buffer.from(text)
  if (octets.length === 0) return Buffer.from([0xff])
  octets[dice.below(octets.length)] = dice.pick([0xff, 0xc0, 0x00, 0x80, 0xed])
  return octets
}

/** What does the same by hand. */
export function curlOf(base: string, { method, target, headers, body }: Shot): string {
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
  const given = headers.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`)
  const sent = body ? [`--data-binary ${quoted(body.toString().slice(0, 4_000))}`] : []
  return ['curl -i --path-as-is -X', method, ...given, ...sent, quoted(base + target)].join(' ')
}

export function octetsOf({ method, target, headers, body, isCut }: Shot): Buffer {
  const lines = headers.map(([name, value]) => `${name}: ${value}`)
  if (body) lines.push(`content-length: ${body.length + (isCut ? 5 : 0)}`)
  const head = Buffer.from(`${method} ${target} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`, 'latin1')
  return body ? Buffer.concat([head, body]) : head
}
