// DKIM signatures, RFC 6376 and RFC 8463.
import { hash, type KeyObject, sign } from 'node:crypto'
import { openSigners } from '../../../kernel/sign-apart.ts'
import { type HeaderField, relaxedBody, relaxedHeader, splitMessage } from './canonical.ts'

export type DkimKey = {
  domain: string
  selector: string
  privateKey: KeyObject
  algorithm: 'rsa-sha256' | 'ed25519-sha256'
}

/** `unsigned`: lower-case names to leave out, for an upstream that replaces these fields. */
export type SignOptions = { at: Date; unsigned?: string[] }

const signedNames = [
  'From',
  'To',
  'Cc',
  'Subject',
  'Reply-To',
  'Date',
  'Message-ID',
  'MIME-Version',
  'Content-Type',
  'Content-Transfer-Encoding',
  'In-Reply-To',
  'References',
  'List-Id',
  'List-Unsubscribe',
  'List-Unsubscribe-Post',
  'Feedback-ID',
  'Auto-Submitted',
]

const foldAt = 76
const signApart = openSigners()
const keyTypes = { 'rsa-sha256': 'rsa', 'ed25519-sha256': 'ed25519' } as const

/** The message with one DKIM-Signature for each key in front. */
export async function signMail(raw: Buffer, keys: DkimKey[], options: SignOptions): Promise<Buffer> {
  const { fields, body } = splitMessage(raw)
  const signed = signedFields(fields, options.unsigned ?? [])
  const bodyHash = hash('sha256', relaxedBody(body), 'base64')
  const at = Math.floor(options.at.getTime() / 1000)
  const names = signed.map(({ name }) => name)
  const lines = signed.flatMap(({ field }) => (field ? [relaxedHeader(field)] : []))
  const signatures = keys.map(async (key) => {
    const unfinished = signatureHead(key, names, `t=${at}; bh=${bodyHash};`)
    const own = relaxedHeader({ name: 'dkim-signature', text: unfinished })
    return finished(unfinished, await signatureOf([...lines, own].join('\r\n'), key))
  })
  return Buffer.concat([...(await Promise.all(signatures)).map((text) => Buffer.from(text, 'latin1')), raw])
}

type Signed = { name: string; field?: HeaderField }

const places = new Map(signedNames.map((name, place) => [name.toLowerCase(), place]))

// Every occurrence is signed, the last one first (RFC 6376 §5.4.2), and From is listed once more than it
// occurs, so that none can be added.
function signedFields(fields: HeaderField[], unsigned: string[]): Signed[] {
  const byPlace: Signed[][] = signedNames.map(() => [])
  for (const field of fields.toReversed()) {
    const place = places.get(field.name)
    const isLeftOut = field.name !== 'from' && unsigned.includes(field.name)
    if (place !== undefined && !isLeftOut) byPlace[place]?.push({ name: signedNames[place] ?? '', field })
  }
  const from = byPlace[places.get('from') ?? 0]
  if (!from?.length) throw new Error('A message without From cannot be signed.')
  from.push({ name: 'From' })
  return byPlace.flat()
}

// Ends in `b=`, as it is signed.
function signatureHead(key: DkimKey, names: string[], tail: string): string {
  const { domain, selector, algorithm } = key
  if (!/^[\w.-]+$/.test(domain) || !/^[\w.-]+$/.test(selector))
    throw new Error('The domain or selector of a DKIM key is malformed.')
  const list = names.map((name, i) => (i < names.length - 1 ? `${name}:` : `${name};`))
  const [firstName = '', ...otherNames] = list
  const tokens = [
    ...`v=1; a=${algorithm}; c=relaxed/relaxed; d=${domain}; s=${selector}; ${tail}`.split(' '),
    `h=${firstName}`,
  ]
  let out = 'DKIM-Signature:'
  let column = out.length
  const add = (token: string, gap: string) => {
    const breaks = column + gap.length + token.length > foldAt
    out += breaks ? `\r\n ${token}` : gap + token
    column = breaks ? 1 + token.length : column + gap.length + token.length
  }
  for (const token of tokens) add(token, ' ')
  // White space may stand beside a colon of this list, RFC 6376 §3.5.
  for (const name of otherNames) add(name, '')
  return `${out}\r\n b=`
}

function finished(unfinished: string, signature: string): string {
  const first = foldAt - ' b='.length
  const rest = signature.slice(first).match(/.{1,75}/g) ?? []
  return `${unfinished}${[signature.slice(0, first), ...rest].join('\r\n ')}\r\n`
}

async function signatureOf(data: string, { privateKey, algorithm }: DkimKey): Promise<string> {
  if (privateKey.asymmetricKeyType !== keyTypes[algorithm])
    throw new Error(`A DKIM key for ${algorithm} is of the type ${privateKey.asymmetricKeyType}.`)
  if (algorithm === 'rsa-sha256') return signApart(data, privateKey)
  // RFC 8463 §3: Ed25519 signs the hash, without hashing for itself. It takes a twentieth of the time.
  return sign(null, hash('sha256', Buffer.from(data, 'latin1'), 'buffer'), privateKey).toString('base64')
}
