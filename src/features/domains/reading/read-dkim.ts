import { createPublicKey, type KeyObject } from 'node:crypto'
import type { Dns } from '../../../kernel/ports.ts'
import { quoted, type Reading, type Remark, reading, unreadable } from './reading.ts'
import { readTags, type Tags } from './tags.ts'

/** `publicKey` is the DER of the public key (SPKI) in base64. */
export type DkimWanted = { domain: string; selector: string; publicKey: string }

export async function readDkim(dns: Dns, { domain, selector, publicKey }: DkimWanted): Promise<Reading> {
  const host = `${selector}._domainkey.${domain}`
  const twice = `${host}.${domain}`
  // Asked at once, though only needed where there is none: nobody waits for two answers, one after the other.
  const hints = [dns.cname(host), dns.txt(twice)] as const
  const records = await dns.txt(host)
  if (records === 'unreadable') return unreadable('TXT', host)
  if (records === 'none') return missing(host, twice, publicKey, await Promise.all(hints))
  const [record = ''] = records
  if (records.length > 1)
    return reading(
      'multiple',
      `${host} has ${records.length} TXT records and receivers may take any; keep only the one with this key.`,
      records,
    )
  const { state, explanation, remarks } = judge(host, readTags(record), publicKey)
  return { ...reading(state, explanation, records), remarks }
}

type Hints = readonly (string[] | string)[]

function missing(host: string, twice: string, publicKey: string, [alias, doubled]: Hints): Reading {
  // A wildcard answers there as well: only this very key was meant for here.
  const isHere = (text: string) => judge(twice, readTags(text), publicKey).state === 'ok'
  if (Array.isArray(doubled) && doubled.some(isHere))
    return reading(
      'missing',
      `The key stands at ${twice} instead of ${host}: the zone was added to the name a second time.`,
    )
  const target = Array.isArray(alias) ? alias[0] : undefined
  const why = target === undefined ? '' : ` It is an alias of ${quoted(target)}, where there is none.`
  return reading('missing', `${host} has no TXT record with the key.${why} Publish it there.`)
}

type Verdict = Pick<Reading, 'state' | 'explanation' | 'remarks'>

function judge(host: string, tags: Tags, publicKey: string): Verdict {
  const invalid = (why: string): Verdict => ({
    state: 'invalid',
    explanation: `The DKIM record of ${host} cannot be used: ${why}. Publish the record as it was given.`,
    remarks: [],
  })
  const fault = faultOf(tags)
  if (fault !== undefined) return invalid(fault)
  const published = (tags.of.get('p') ?? '').replaceAll(/\s/g, '')
  const wanted = parsed(Buffer.from(publicKey, 'base64'), 'spki')
  const kind = tags.of.get('k') ?? 'rsa'
  if (published !== publicKey && published.length >= 100 && publicKey.startsWith(published))
    return mismatch(host, 'the key is cut off; publish it whole, as several strings of one record')
  const key = keyOf(kind, published)
  if (kind !== 'rsa' && kind !== 'ed25519') return invalid(`its key type ${quoted(kind)} is not known`)
  if (!key) return invalid(`what stands after p= is not a key of type ${kind}`)
  if (!wanted || !sameKey(key, wanted))
    return mismatch(host, 'another key is published than this one; receivers will not accept its signature')
  const bits = key.asymmetricKeyDetails?.modulusLength
  if (bits !== undefined && bits < leastBits)
    return invalid(`a key of ${bits} bits is too weak, ${leastBits} are the least`)
  const explanation = `${host} carries this key.`
  return { state: 'ok', explanation, remarks: remarksOf(tags, bits) }
}

function mismatch(host: string, why: string): Verdict {
  return {
    state: 'mismatch',
    explanation: `At ${host} ${why}. Publish the record as it was given.`,
    remarks: [],
  }
}

function faultOf({ of, first, faults }: Tags): string | undefined {
  const version = of.get('v')
  if (version !== undefined && first !== 'v') return 'v=DKIM1 must stand first'
  if (version !== undefined && version !== 'DKIM1')
    return `its version is ${quoted(version)} instead of DKIM1`
  if (faults[0] !== undefined) return faults[0]
  if (!of.has('p')) return 'it has no tag p with the key'
  if (of.get('p') === '') return 'its key is empty, which means that it was revoked'
  if (!allows(of.get('h'), ['sha256']))
    return 'its tag h does not allow sha256, which signatures are made with'
  if (!allows(of.get('s'), ['email', '*'])) return 'its tag s does not allow the key to be used for email'
  return undefined
}

function allows(list: string | undefined, any: string[]): boolean {
  return list === undefined || list.split(':').some((one) => any.includes(one.trim().toLowerCase()))
}

// RFC 8301 §3.2.
const [leastBits, advisedBits] = [1_024, 2_048]

function remarksOf({ of }: Tags, bits = advisedBits): Remark[] {
  const flags = (of.get('t') ?? '').split(':').map((flag) => flag.trim())
  const remarks: Remark[] = []
  if (flags.includes('y'))
    remarks.push({
      code: 'testing',
      message:
        'The flag t=y says that signing is being tested; receivers may treat mail as unsigned. Take it out.',
    })
  if (bits < advisedBits)
    remarks.push({ code: 'weak_key', message: `The key has ${bits} bits; ${advisedBits} are advised.` })
  return remarks
}

// What stands before the 32 bytes of an Ed25519 key in SPKI (RFC 8410).
const ed25519Prefix = Buffer.from('302a300506032b6570032100', 'hex')
const ed25519Bytes = 32

function keyOf(kind: string, published: string): KeyObject | undefined {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(published)) return undefined
  const bytes = Buffer.from(published, 'base64')
  if (kind === 'ed25519')
    return bytes.length === ed25519Bytes ? parsed(Buffer.concat([ed25519Prefix, bytes]), 'spki') : undefined
  const key = parsed(bytes, 'spki') ?? parsed(bytes, 'pkcs1')
  return key?.asymmetricKeyType === 'rsa' ? key : undefined
}

function parsed(key: Buffer, type: 'spki' | 'pkcs1'): KeyObject | undefined {
  try {
    return createPublicKey({ key, format: 'der', type })
  } catch {
    return undefined
  }
}

function sameKey(one: KeyObject, other: KeyObject): boolean {
  const der = (key: KeyObject) => key.export({ format: 'der', type: 'spki' })
  return der(one).equals(der(other))
}
