// How the value of a setting is read.
import { isIP } from 'node:net'
import { readTransportUrl } from './transport-url.ts'

export type Read<T> = (value: string) => T | Fault

/** What is wrong with a value, to follow its variable's name: "must be …". */
export class Fault {
  readonly says: string

  constructor(says: string) {
    this.says = says
  }
}

export const text: Read<string> = (value) => value

/** A tilde that comes here was meant for a shell: nobody wants a folder of that name. */
export const folder: Read<string> = (value) =>
  /^~/.test(value) ? new Fault('must be a path without ~, which only a shell replaces') : value

export const host: Read<string> = (value) =>
  /^[\w.:%-]+$/.test(value) ? value : new Fault('must be a name or address such as 127.0.0.1 or 0.0.0.0')

export const resolvers: Read<string[]> = (value) => {
  const given = value.split(',').map((one) => one.trim())
  return given.every(isResolver)
    ? given
    : new Fault('must be resolvers such as 9.9.9.9, 127.0.0.1:5353 or localhost:5353, with commas between')
}

function isResolver(given: string): boolean {
  const [, inBrackets, bare, port = '53'] = /^(?:\[(.+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(given) ?? []
  const name = bare ?? ''
  const isName = /^[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?$/i.test(name) && /[a-z]/i.test(name)
  return (isName || isIP(inBrackets ?? bare ?? given) !== 0) && Number(port) <= 65_535
}

export const port: Read<number> = (value) =>
  /^\d{1,5}$/.test(value) && Number(value) <= 65_535 ? Number(value) : new Fault('must be a port, 0 to 65535')

export const wholeNumber: Read<number> = (value) =>
  /^\d{1,6}$/.test(value) ? Number(value) : new Fault('must be a whole number from 0 to 999999')

export const leaseLength: Read<number> = (value) =>
  /^\d{1,4}$/.test(value) && Number(value) >= 5 ? Number(value) : new Fault('must be 5 to 9999 seconds')

export const factor: Read<number> = (value) =>
  /^\d+(\.\d+)?$/.test(value) && Number(value) > 0 && Number(value) <= 1e6
    ? Number(value)
    : new Fault('must be a number above 0, such as 1 or 0.5')

export const oneOf =
  <const W extends readonly string[]>(...words: W): Read<W[number]> =>
  (value) =>
    words.includes(value) ? value : new Fault(`must be one of ${words.join(', ')}`)

export const yesOrNo: Read<boolean> = (value) =>
  /^(true|false)$/.test(value) ? value === 'true' : new Fault('must be true or false')

export const transport: Read<string> = (value) => {
  try {
    readTransportUrl(value)
    return value
  } catch (error) {
    return new Fault(error instanceof Error ? error.message : String(error))
  }
}

export const smtpUrl: Read<string> = (value) =>
  /^smtps?:\/\//.test(value)
    ? transport(value)
    : new Fault('must be smtp://user:password@host:port or smtps://…')

export type MediaStorage = { kind: 'disk' } | { kind: 's3'; bucket: string; prefix: string }

export const mediaStorage: Read<MediaStorage> = (value) => {
  if (value === 'disk') return { kind: 'disk' }
  const [, bucket, prefix = ''] = /^s3:\/\/([a-z0-9][a-z0-9.-]{1,62})(?:\/([\w./-]*))?$/.exec(value) ?? []
  return bucket === undefined
    ? new Fault('must be disk or s3://BUCKET/PREFIX')
    : { kind: 's3', bucket, prefix: prefix.replaceAll(/^\/+|\/+$/g, '') }
}

/** One key behind the other, the newest first. */
export const secretKeys: Read<Buffer> = (value) => {
  const keys = value
    .split(/\s*,\s*/)
    .map((one) => Buffer.from(one, /^[0-9a-f]{64}$/i.test(one) ? 'hex' : 'base64'))
  return keys.every((key) => key.length === 32)
    ? Buffer.concat(keys)
    : new Fault(
        'must be 32 random octets in base64 or hexadecimal; several with commas between, newest first',
      )
}

export const list: Read<string[]> = (value) =>
  value
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '')

export const hostNames: Read<string[]> = (value) => {
  const names = list(value) as string[]
  return names.every((name) => /^[a-z0-9_-]+(\.[a-z0-9_-]+)+$/i.test(name))
    ? names
    : new Fault('must be names such as _spf.example.com, with commas between')
}

export const addresses: Read<string[]> = (value) => {
  const given = list(value) as string[]
  return given.every(isAddressOrRange)
    ? given
    : new Fault('must be IP addresses or ranges such as 192.0.2.1 or 192.0.2.0/28, with commas between')
}

function isAddressOrRange(given: string): boolean {
  const [, address = '', bits = '0'] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(given) ?? []
  const version = isIP(address)
  return version !== 0 && Number(bits) <= (version === 4 ? 32 : 128)
}

export const httpUrl: Read<string> = (value) =>
  URL.canParse(value) && /^https?:$/.test(new URL(value).protocol)
    ? value.replace(/\/+$/, '')
    : new Fault('must be an address such as https://mail.example.com')

/** What links start with: a path goes on behind it. */
export const linkBase: Read<string> = (value) =>
  /[?#]/.test(value)
    ? new Fault('must be an address without ? and #, such as https://mail.example.com')
    : asInHeaders(httpUrl(value))

/** It stands in every message, also in its header: in ASCII, without spaces and without a password. */
function asInHeaders(given: string | Fault): string | Fault {
  if (given instanceof Fault) return given
  const { username, password, href } = new URL(given)
  return username + password === ''
    ? href.replace(/\/+$/, '')
    : new Fault('must be an address without user and password, such as https://mail.example.com')
}

export const topicArns: Read<string[]> = (value) => {
  const read = list(value)
  if (read instanceof Fault) return read
  const wrong = read.find((one) => !/^arn:[^:\s]+:sns:[^:\s]*:[^:\s]+:\S+$/.test(one))
  return wrong === undefined ? read : new Fault('must name topics as arn:aws:sns:REGION:ACCOUNT:NAME')
}

export const postgresUrl: Read<string> = (value) =>
  URL.canParse(value) && /^postgres(ql)?:$/.test(new URL(value).protocol)
    ? value
    : new Fault('must be an address such as postgres://user:password@host:5432/database')

export const apiKey: Read<string> = (value) =>
  /^[\x21-\x7e]{24,255}$/.test(value)
    ? value
    : new Fault('must have 24 to 255 printable characters without spaces')
