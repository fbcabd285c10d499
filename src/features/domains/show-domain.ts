import { type Static, Type } from 'typebox'
import { closed, orNull, Time, words } from '../../kernel/schema.ts'
import { hasDkim } from './judge.ts'
import { type DomainRow, notReady, type RecordState, recordTypes, roles, states, statuses } from './model.ts'
import { mostFollowed, mostLookups } from './reading/spf/gather.ts'

const Remark = closed({ code: Type.String(), message: Type.String() })
const Found = Type.Array(Type.String(), { description: 'The records as they stand' })
const State = words(states, {
  description: 'unreadable: DNS did not answer, which says nothing of the record',
})

const LastKnown = orNull(closed({ state: words(states), at: Time }))

const summary = {
  state: State,
  explanation: Type.String(),
  remarks: Type.Array(Remark, { description: 'What does not make the record bad but is worth a look' }),
  last_known: LastKnown,
}

const Record = closed({
  role: words(roles),
  type: words(recordTypes),
  host: Type.String(),
  value: orNull(
    Type.String({
      description:
        'Ready to paste, in place of what is there. null: no value is sure to work and to keep all who send for the ' +
        'domain; the explanation says what to do',
    }),
  ),
  required: Type.Boolean({ description: 'Large providers refuse or mistrust mail without it' }),
  state: State,
  found: Found,
  explanation: Type.String(),
  last_known: LastKnown,
})

const Lookups = Type.Integer({
  description:
    `How many look-ups it costs a receiver: ${mostLookups} are the most; ` +
    `${mostFollowed + 1} stands for more than ${mostFollowed}`,
})

const Alignment = words(['relaxed', 'strict'])

export const Domain = closed({
  domain: Type.String(),
  status: words(statuses, {
    description:
      'verified: shown to be yours, and DKIM works; pending: for three days; failed: after that, or broken',
  }),
  spf: closed({ ...summary, found: Found, policy: orNull(Type.String()), lookups: Lookups }),
  dkim: closed({ ...summary, found: Found }),
  dmarc: closed({
    ...summary,
    found: Found,
    policy: orNull(Type.String()),
    found_at: orNull(Type.String({ description: 'The domain whose record counts' })),
    alignment: orNull(closed({ dkim: Alignment, spf: Alignment })),
  }),
  records: Type.Array(Record),
  created_at: Time,
  verified_at: orNull(Time),
  checked_at: orNull(Time),
})

export function showDomain(row: DomainRow): Static<typeof Domain> {
  return {
    domain: row.domain,
    status: row.status,
    spf: showSpf(row),
    dkim: showDkim(row),
    dmarc: showDmarc(row),
    records: row.records.map(showRecord),
    created_at: row.created_at.toISOString(),
    verified_at: row.verified_at?.toISOString() ?? null,
    checked_at: row.checked_at?.toISOString() ?? null,
  }
}

export function showRecord(record: RecordState): Static<typeof Record> {
  const { role, type, host, required, state, found } = record
  const isOver = record.retired && state === 'missing'
  const explanation = isOver
    ? `${host} has no record and needs none: this key no longer signs.`
    : [record.explanation, record.note].filter(Boolean).join(' ')
  const value = toPaste(record)
  const isUnknown = record.role === 'spf' && record.facts.paste === undefined && state === 'unreadable'
  return {
    role,
    type,
    host,
    value,
    required,
    state,
    found,
    explanation: isUnknown ? `${explanation} ${adding(record)}` : explanation,
    ...lastKnown(record),
  }
}

// Read by a version that kept no value for it: the next check makes one.
const outdated: RecordState['state'][] = ['mismatch', 'multiple', 'invalid']

/** There may be one SPF record only: where one is known, the value takes over what it says. */
function toPaste({ role, state, value, facts }: RecordState): string | null {
  if (role !== 'spf') return value
  return facts.paste === undefined && !outdated.includes(state) ? value : (facts.paste ?? null)
}

/** Where DNS did not answer, and nothing is known of a record. */
function adding({ value }: RecordState): string {
  const terms = value.split(' ').slice(1, -1).join(' ')
  return `Add ${terms} behind v=spf1 of the SPF record that the domain has; only where it has none publish ${value}`
}

function lastKnown({ known, knownAt }: RecordState) {
  return { last_known: known && knownAt ? { state: known, at: knownAt } : null }
}

type Shown = Static<typeof Domain>['dkim']

const nothingSaid: Shown = {
  state: 'unreadable',
  explanation: 'Public DNS has not been asked yet.',
  remarks: [],
  found: [],
  last_known: null,
}

function summed(record: RecordState | undefined): Shown {
  if (!record) return nothingSaid
  const { state, explanation, remarks, found } = record
  return { state, explanation, remarks, found, ...lastKnown(record) }
}

/** The record of a role that tells the most: the first that is not as it should be. */
export function tellingRecord({ records, upstream }: DomainRow, role: RecordState['role']) {
  const all = records.filter((one) => one.role === role && !one.retired)
  const isEnough = role === 'dkim' && !upstream && hasDkim(records, upstream)
  const telling = isEnough ? all.find(({ known }) => known === 'ok') : all.find(({ state }) => state !== 'ok')
  return telling ?? all[0]
}

function showSpf(row: DomainRow): Static<typeof Domain>['spf'] {
  const record = tellingRecord(row, 'spf')
  return { ...summed(record), policy: record?.facts.policy ?? null, lookups: record?.facts.lookups ?? 0 }
}

/** Published is not yet used: an upstream looks for itself. */
function showDkim(row: DomainRow): Shown {
  const shown = summed(tellingRecord(row, 'dkim'))
  const message = notReady(row)
  if (message === null) return shown
  return { ...shown, remarks: [...shown.remarks, { code: 'upstream_not_ready', message }] }
}

const modes = { r: 'relaxed', s: 'strict' } as const

function showDmarc(row: DomainRow): Static<typeof Domain>['dmarc'] {
  const record = tellingRecord(row, 'dmarc')
  const { policy = null, foundAt = null, alignment } = record?.facts ?? {}
  return {
    ...summed(record),
    policy,
    found_at: foundAt,
    alignment: alignment ? { dkim: modes[alignment.dkim], spf: modes[alignment.spf] } : null,
  }
}
