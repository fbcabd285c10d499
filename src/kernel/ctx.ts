import type { Db } from './db.ts'
import type { Scope } from './scope.ts'

export type Caller = {
  accountId: string
  keyId: string
  keyName: string
  mode: 'live' | 'test'
  /** null: all scopes. */
  scopes: Scope[] | null
  /** null: no cap. */
  dailyCap: number | null
  /** null: any sender domain. */
  senderDomains: string[] | null
  /** The account refuses senders that are not proven to be its own. */
  verifiedSenderOnly: boolean
  /** The account may send only so much a month. */
  hasQuota: boolean
}

/** What a domain act may use: the database, the time, who asks. */
export type Ctx = {
  db: Db
  now: Date
  caller: Caller
  requestId: string
  cursorKey: Buffer
  /** The upstream of live mail takes campaigns, too. */
  takesMarketing: boolean
}

/** Stands in the context of public operations: an account that owns nothing. */
export const nobody: Caller = {
  accountId: '0',
  keyId: '0',
  keyName: '',
  mode: 'live',
  scopes: [],
  dailyCap: 0,
  senderDomains: [],
  verifiedSenderOnly: false,
  hasQuota: false,
}
