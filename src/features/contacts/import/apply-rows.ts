// The rows of a chunk one after the other upon the contacts they are about, in memory: what a later row says is then
// what stands, a row counts as the one that made the contact or as a change of it, and the database is told once.
import { isDeepStrictEqual } from 'node:util'
import type { Value } from '../attributes/values.ts'
import { nameInHistory } from '../contacts/trail-queries.ts'
import { type ReadRow, RowFault } from './read-row.ts'

export type KnownContact = {
  id: string
  email: string | null
  ext_id: string | null
  sms: string | null
  status: 'subscribed' | 'unsubscribed'
  sms_blacklisted: boolean
  attributes: Record<string, Value>
  consent_date: Date | null
  consent_source: string | null
}

export type Consent = { date: Date | null; source: string | null }

export type Draft = {
  /** null: there was none. */
  before: KnownContact | null
  now: Omit<KnownContact, 'id'>
  /** A good row is about it. Others are there because a row that is faulty names them. */
  isMeant: boolean
  /** Each change, in order. */
  consents: Consent[]
  /** Consent came into force with this import. */
  consented: boolean
  /** The latest date of consent that a row gave. */
  consentedAt: Date | null
}

export type Rules = { updateExisting: boolean; emailBlacklist: boolean; smsBlacklist: boolean }

export type Drafts = {
  all: Draft[]
  byEmail: Map<string, Draft>
  byExtId: Map<string, Draft>
  bySms: Map<string, Draft>
}

export function draftsOf(known: KnownContact[]): Drafts {
  const drafts: Drafts = { all: [], byEmail: new Map(), byExtId: new Map(), bySms: new Map() }
  for (const { id, ...rest } of known) {
    const now = { ...rest, attributes: { ...rest.attributes } }
    enter(drafts, { ...newDraft(now), before: { id, ...rest } })
  }
  return drafts
}

const newDraft = (now: Draft['now']): Draft => ({
  before: null,
  now,
  isMeant: false,
  consents: [],
  consented: false,
  consentedAt: null,
})

const nobody = (): Draft['now'] => ({
  email: null,
  ext_id: null,
  sms: null,
  status: 'subscribed',
  sms_blacklisted: false,
  attributes: {},
  consent_date: null,
  consent_source: null,
})

function enter(drafts: Drafts, draft: Draft): void {
  drafts.all.push(draft)
  index(drafts, draft)
}

// An identifier that a contact gives up stays its own for the rest of the chunk, so that one statement can write all.
function index({ byEmail, byExtId, bySms }: Drafts, draft: Draft): void {
  const { email, ext_id, sms } = draft.now
  if (email !== null) byEmail.set(email, draft)
  if (ext_id !== null) byExtId.set(ext_id, draft)
  if (sms !== null) bySms.set(sms, draft)
}

/** Throws a RowFault when its identifiers belong to different contacts. */
export function applyRow(drafts: Drafts, row: ReadRow, rules: Rules): 'created' | 'updated' | 'skipped' {
  const found = findDraft(drafts, row)
  const draft = found ?? newDraft(nobody())
  if (!found) drafts.all.push(draft)
  draft.isMeant = true
  if (rules.emailBlacklist) draft.now.status = 'unsubscribed'
  if (rules.smsBlacklist) draft.now.sms_blacklisted = true
  if (found && !rules.updateExisting) return 'skipped'
  draft.now.email = row.email ?? draft.now.email
  draft.now.ext_id = row.extId ?? draft.now.ext_id
  draft.now.sms = row.sms ?? draft.now.sms
  index(drafts, draft)
  for (const [name, value] of row.values) {
    if (value === null) delete draft.now.attributes[name]
    else draft.now.attributes[name] = value
  }
  if (row.consent) applyConsent(draft, row.consent)
  return found ? 'updated' : 'created'
}

function findDraft({ byEmail, byExtId, bySms }: Drafts, row: ReadRow): Draft | undefined {
  const holders = [
    row.email === null ? undefined : byEmail.get(row.email),
    row.extId === null ? undefined : byExtId.get(row.extId),
    row.sms === null ? undefined : bySms.get(row.sms),
  ]
  const draft = holders.find((holder) => holder !== undefined)
  const other = holders.findIndex((holder) => holder !== undefined && holder !== draft)
  if (other >= 0) throw new RowFault(`${['email', 'EXT_ID', 'SMS'][other]} belongs to another contact`)
  if (draft && row.email !== null && draft.now.email !== null && draft.now.email !== row.email)
    throw new RowFault(`${holders[1] ? 'EXT_ID' : 'SMS'} belongs to another contact`)
  return draft
}

/** One that is older than the consent in force is recorded and does not take its place. */
function applyConsent(draft: Draft, given: Consent): void {
  const { now } = draft
  const consent = { date: given.date ?? now.consent_date, source: given.source ?? now.consent_source }
  if (given.date && (!draft.consentedAt || given.date > draft.consentedAt)) draft.consentedAt = given.date
  const inForce = { date: now.consent_date, source: now.consent_source }
  if (isDeepStrictEqual(consent, inForce)) return
  draft.consents.push(consent)
  if (consent.date && inForce.date && consent.date < inForce.date) return
  now.consent_date = consent.date
  now.consent_source = consent.source
  draft.consented = true
}

export type Change = { attribute: string; old_value: Value | null; new_value: Value | null }

/** What is different now, by attribute, identifiers and status among them. What a contact begins with is no change. */
export function changesOf({ before, now }: Draft): Change[] {
  if (!before) return []
  const [old, current] = [flat(before), flat(now)]
  const names = new Set([...Object.keys(old), ...Object.keys(current)])
  return [...names]
    .map((name) => ({ attribute: name, old_value: old[name] ?? null, new_value: current[name] ?? null }))
    .filter(({ old_value, new_value }) => !isDeepStrictEqual(old_value, new_value))
}

function flat({ attributes, email, ext_id, sms, status }: Draft['now']): Record<string, Value | null> {
  const named = Object.entries(attributes).map(([name, value]) => [nameInHistory(name), value])
  return { ...Object.fromEntries(named), EMAIL: email, EXT_ID: ext_id, SMS: sms, STATUS: status }
}

/** Whether the contact's own row has to be written. */
export function isChanged(draft: Draft): boolean {
  if (!draft.before) return true
  return (
    draft.consented ||
    draft.before.sms_blacklisted !== draft.now.sms_blacklisted ||
    changesOf(draft).length > 0
  )
}
