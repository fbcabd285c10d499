// The words of sending domains.
import type { Identity } from '../../kernel/ports.ts'
import type { Reading, State } from './reading/reading.ts'

export const roles = ['spf', 'dkim', 'dmarc', 'return_path', 'verification', 'tracking'] as const
export const recordTypes = ['TXT', 'CNAME', 'MX'] as const
export const states = ['ok', 'missing', 'mismatch', 'multiple', 'invalid', 'unreadable'] as const
export const statuses = ['verified', 'pending', 'failed'] as const
export type Status = (typeof statuses)[number]

/** A record to publish. */
export type Wanted = {
  role: (typeof roles)[number]
  type: (typeof recordTypes)[number]
  host: string
  value: string
  required: boolean
  /** What a person should know beside what DNS says of it. */
  note?: string
  /** Of a key that no longer signs. */
  retired?: true
}

/** Two records at one host are told apart by their values. */
export const keyOf = ({ role, type, host, value }: Wanted) => [role, type, host, value].join(' ')

/** What readers add for some roles. */
export type Facts = {
  lookups?: number
  policy?: string | null
  /** The SPF record to publish in place of the one that was read; null: none is sure to keep all who send. */
  paste?: string | null
  foundAt?: string | null
  alignment?: { dkim: 'r' | 's'; spf: 'r' | 's' }
  organisation?: string
  /** Whether the domain takes mail itself, as far as DNS says so. */
  mailHost?: Pick<Reading, 'state' | 'found' | 'explanation'>
}

/** A record and what DNS says of it. Times are ISO texts: it is kept as JSON. */
export type RecordState = Wanted &
  Reading & {
    facts: Facts
    /** The last state that DNS told; an answer that failed changes nothing of it. */
    known: State | null
    knownAt: string | null
    /** Whether it has ever been right: only then can it break. */
    wasOk: boolean
  }

export type KeyStage = 'current' | 'next' | 'retired'

/** A DKIM key of the account's own, without its private half. `publicKey`: SPKI in base64. */
export type OwnKey = {
  selector: string
  publicKey: string
  signs: boolean
  stage: KeyStage
  retiredAt: Date | null
}

export type DomainRow = {
  id: string
  account_id: string
  domain: string
  token: string
  status: Status
  upstream: Identity | null
  records: RecordState[]
  checked_at: Date | null
  verified_at: Date | null
  /** Of one that was verified: since when DNS shows nothing that proves it. */
  unproven_since: Date | null
  created_at: Date
}

/** What an upstream that signs says of a domain that it does not send for, or not yet. */
export const notReady = ({ upstream }: Pick<DomainRow, 'upstream'>): string | null =>
  upstream && !upstream.ready ? upstream.says : null

/** A domain as far as what to publish for it depends on it. */
export type Subject = Pick<DomainRow, 'domain' | 'token' | 'upstream'> & { keys: OwnKey[] }
