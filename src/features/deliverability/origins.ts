// Which origins of contacts bring dead addresses, complaints and people who leave.
import type { Ctx } from '../../kernel/ctx.ts'
import type { Days } from '../messages/counts/queries.ts'
import { type Finding, type Kind, perCent, rateOf, severityOf, windowDays, worst } from './finding.ts'
import {
  hasSubscribed,
  type ImportRow,
  type Origin,
  type OriginCounts,
  readImports,
  readSources,
  type SourceRow,
} from './origin-queries.ts'
import { requestOf } from './requests.ts'

const area = 'list_origin'
const mostSources = 100
const newestSuppressions = 5_000

/** An origin of whom nobody can be written to any more does no further harm. */
export async function findOrigins(ctx: Ctx, days: Days): Promise<Finding[]> {
  const { db, caller } = ctx
  const since = new Date(`${days.first}T00:00:00Z`)
  const sources = await readSources(db, caller.accountId, days, mostSources)
  const imports = await readImports(db, caller.accountId, { since, newest: newestSuppressions })
  const found: Finding[] = []
  for (const one of sources) if (badness(one, one.sent)) found.push(...(await aboutSource(ctx, one)))
  for (const one of imports) if (badness(one, one.contacts)) found.push(...(await aboutImport(ctx, one)))
  return found
}

const kinds: Exclude<Kind, 'blocks'>[] = ['hard_bounces', 'complaints', 'unsubscriptions']

const badness = (counts: OriginCounts, of: number) =>
  worst(kinds.map((kind) => severityOf(kind, counts[kind], of)))

function ratesOf(counts: OriginCounts, of: number) {
  return {
    hard_bounces: counts.hard_bounces,
    hard_bounce_rate: rateOf(counts.hard_bounces, of),
    complaints: counts.complaints,
    complaint_rate: rateOf(counts.complaints, of),
    unsubscriptions: counts.unsubscriptions,
    unsubscription_rate: rateOf(counts.unsubscriptions, of),
  }
}

const said = (counts: OriginCounts, of: number) =>
  `${perCent(counts.hard_bounces, of)} hard bounces, ${perCent(counts.complaints, of)} complaints and ` +
  `${perCent(counts.unsubscriptions, of)} unsubscriptions`

async function aboutSource(ctx: Ctx, counts: SourceRow): Promise<Finding[]> {
  const { source, sent } = counts
  const named =
    source === '' ? 'contacts without a recorded consent' : `contacts of the consent source "${source}"`
  return finding(
    ctx,
    { source: source === '' ? null : source },
    {
      code: 'consent_source_poor',
      severity: badness(counts, sent) ?? 'warning',
      message:
        `Campaigns of the last ${windowDays} days to ${named} had ${said(counts, sent)}. ` +
        'Stop writing to them until they have confirmed anew.',
      evidence: { consent_source: source === '' ? null : source, sent, ...ratesOf(counts, sent) },
    },
  )
}

async function aboutImport(ctx: Ctx, counts: ImportRow): Promise<Finding[]> {
  const { import_id, contacts, created_at } = counts
  return finding(
    ctx,
    { importId: import_id },
    {
      code: 'import_poor',
      severity: badness(counts, contacts) ?? 'warning',
      message:
        `The contacts that import ${import_id} brought had ${said(counts, contacts)} in ${windowDays} days. ` +
        'Stop writing to them until they have confirmed anew.',
      evidence: {
        import_id: Number(import_id),
        imported_at: created_at.toISOString(),
        contacts,
        ...ratesOf(counts, contacts),
      },
    },
  )
}

type Told = Pick<Finding, 'code' | 'severity' | 'message' | 'evidence'>

async function finding(ctx: Ctx, origin: Origin, told: Told): Promise<Finding[]> {
  if (!(await hasSubscribed(ctx.db, ctx.caller.accountId, origin))) return []
  const named =
    'importId' in origin ? { import_id: Number(origin.importId) } : { consent_source: origin.source }
  return [
    {
      area,
      domain: null,
      ...told,
      action: requestOf(ctx, 'origin.stop', { body: { ...named, confirm: true } }),
      proof: requestOf(ctx, 'deliverability.diagnose'),
    },
  ]
}
