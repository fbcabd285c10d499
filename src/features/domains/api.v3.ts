// The same acts where the compatible provider has them.
import { type Static, Type } from 'typebox'
import { operation } from '../../kernel/operation.ts'
import { prepared } from '../../kernel/prepared.ts'
import { notFound } from '../../kernel/refusals.ts'
import { closed, Time } from '../../kernel/schema.ts'
import { readNewName } from './declarable.ts'
import { declareDomain, prepareDeclaration } from './declare-domain.ts'
import { deleteDomain } from './delete-domain.ts'
import { isOwned } from './judge.ts'
import type { DomainNeeds } from './look-at-domain.ts'
import { type DomainRow, notReady, type RecordState } from './model.ts'
import { readName } from './name.ts'
import { listDomains } from './queries.ts'
import { domainChanged, mostDomains, tooManyDomains, upstreamUnavailable } from './refusals.ts'
import { showRecord } from './show-domain.ts'
import { type Check, prepareVerification, readDomain, verifyDomain } from './verify-domain.ts'

const read = { area: 'Domains', scope: 'domain.read', effect: 'read' } as const
const write = { area: 'Domains', scope: 'domain.write', effect: 'change' } as const
const params = closed({ domainName: Type.String({ maxLength: 1_000 }) })

const DnsRecord = closed({
  type: Type.String(),
  value: Type.String(),
  host_name: Type.String(),
  status: Type.Boolean(),
})

const DnsRecords = closed({
  dkim_record: Type.Optional(DnsRecord),
  brevo_code: Type.Optional(DnsRecord),
  dmarc_record: Type.Optional(DnsRecord),
  dkim2_record: Type.Optional(DnsRecord),
  dkim3_record: Type.Optional(DnsRecord),
  spf_record: Type.Optional(DnsRecord),
})

const facts = { verified: Type.Boolean(), authenticated: Type.Boolean() }
const factsOf = ({ status, records, upstream }: DomainRow) => ({
  verified: isOwned(records, upstream),
  authenticated: status === 'verified',
})

function showRecords({ records }: DomainRow): Static<typeof DnsRecords> {
  const inUse = records.filter(({ retired }) => !retired)
  const of = (role: RecordState['role']) => inUse.filter((one) => one.role === role).map(dnsRecord)
  const [dkim_record, dkim2_record, dkim3_record] = of('dkim')
  const [[brevo_code], [dmarc_record], [spf_record]] = [of('verification'), of('dmarc'), of('spf')]
  const all = { dkim_record, brevo_code, dmarc_record, dkim2_record, dkim3_record, spf_record }
  return Object.fromEntries(Object.entries(all).filter(([, record]) => record !== undefined))
}

/** Left out where there is no value to be pasted. */
function dnsRecord(record: RecordState): Static<typeof DnsRecord> | undefined {
  const { type, value, host } = showRecord(record)
  if (value === null) return undefined
  return { type, value, host_name: host, status: record.known === 'ok' }
}

export const listSenderDomains = operation({
  ...read,
  name: 'domain.list',
  http: 'GET /v3/senders/domains',
  summary: 'List the declared domains, newest first',
  reply: closed({
    domains: Type.Array(
      closed({
        id: Type.Integer(),
        domain_name: Type.String(),
        ...facts,
        ip: Type.String(),
        provider: Type.String(),
        creator: closed({ id: Type.String(), email: Type.String(), creationDate: Time }),
      }),
    ),
    count: Type.Integer(),
    current_page: Type.Integer(),
    total_pages: Type.Integer(),
  }),
}).run(async (ctx) => {
  const rows = await listDomains(ctx.db, ctx.caller.accountId, { limit: mostDomains })
  const domains = rows.map((row) => ({
    id: Number(row.id),
    domain_name: row.domain,
    ...factsOf(row),
    ip: '',
    provider: '',
    creator: { id: ctx.caller.accountId, email: '', creationDate: row.created_at.toISOString() },
  }))
  return { domains, count: domains.length, current_page: 1, total_pages: 1 }
})

export function createSenderDomain(needs: DomainNeeds) {
  const made = prepared<Awaited<ReturnType<typeof prepareDeclaration>>>()
  return operation({
    ...write,
    name: 'domain.declare',
    http: 'POST /v3/senders/domains',
    summary: 'Declare a domain to send from; gives the DNS records to publish',
    body: closed({ name: Type.String({ maxLength: 1_000 }) }),
    reply: closed({
      id: Type.Integer(),
      domain_name: Type.String(),
      domain_provider: Type.String(),
      message: Type.String(),
      dns_records: DnsRecords,
    }),
    refusals: [tooManyDomains, upstreamUnavailable, domainChanged],
    prepare: async (ctx, input) =>
      made.put(input, await prepareDeclaration(needs, ctx, readNewName(input.body.name, 'name'))),
  }).run(async (ctx, input) => {
    const name = readNewName(input.body.name, 'name')
    const { row, isNew } = await declareDomain(needs, ctx, name, made.take(input))
    return {
      id: Number(row.id),
      domain_name: row.domain,
      domain_provider: '',
      message: isNew ? 'Domain added successfully. Publish its DNS records.' : 'The domain was added before.',
      dns_records: showRecords(row),
    }
  })
}

export const getSenderDomain = operation({
  ...read,
  name: 'domain.dns',
  http: 'GET /v3/senders/domains/{domainName}',
  summary: 'Read which DNS records a domain needs and whether they are there',
  params,
  reply: closed({ domain: Type.String(), ...facts, dns_records: DnsRecords }),
  refusals: [notFound],
}).run(async (ctx, input) => {
  const row = await readDomain(ctx, readName(input.params.domainName, 'domainName'))
  return { domain: row.domain, ...factsOf(row), dns_records: showRecords(row) }
})

export function authenticateSenderDomain(needs: DomainNeeds) {
  const checks = prepared<Check>()
  return operation({
    ...write,
    name: 'domain.verify',
    http: 'PUT /v3/senders/domains/{domainName}/authenticate',
    summary: 'Read the records of a domain from public DNS',
    description: 'The message says whether the domain is authenticated, and otherwise what is not yet right.',
    params,
    reply: closed({ domain_name: Type.String(), message: Type.String() }),
    refusals: [notFound],
    prepare: async (ctx, input) =>
      checks.put(
        input,
        await prepareVerification(needs, ctx, readName(input.params.domainName, 'domainName')),
      ),
  }).run(async (ctx, input) => {
    const name = readName(input.params.domainName, 'domainName')
    const row = await verifyDomain(needs, ctx, name, checks.take(input))
    return { domain_name: row.domain, message: messageOf(row) }
  })
}

function messageOf(row: DomainRow): string {
  const { status, records } = row
  if (status === 'verified') return 'Domain has been authenticated successfully.'
  const wrong = records.filter(({ required, state }) => required && state !== 'ok')
  const said = wrong.map(({ role, host, explanation }) => `${role} at ${host}: ${explanation}`)
  return ['Domain is not authenticated yet.', ...said, notReady(row) ?? ''].join(' ').trim()
}

export const deleteSenderDomain = operation({
  ...write,
  name: 'domain.delete',
  http: 'DELETE /v3/senders/domains/{domainName}',
  summary: 'Delete a domain with its DKIM keys',
  effect: 'irreversible',
  params,
  status: 204,
  reply: Type.Null(),
  refusals: [notFound],
}).run(async (ctx, input) => {
  await deleteDomain(ctx, readName(input.params.domainName, 'domainName'))
  return null
})
