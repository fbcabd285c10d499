import { Type } from 'typebox'
import { refusalsOf } from '../../kernel/collect.ts'
import { answer, operation } from '../../kernel/operation.ts'
import { pageOfRows } from '../../kernel/page.ts'
import { prepared } from '../../kernel/prepared.ts'
import { notFound } from '../../kernel/refusals.ts'
import { closed, pageOf, pageQuery } from '../../kernel/schema.ts'
import { readNewName } from './declarable.ts'
import { declareDomain, prepareDeclaration } from './declare-domain.ts'
import { deleteDomain } from './delete-domain.ts'
import type { DomainNeeds } from './look-at-domain.ts'
import { readName } from './name.ts'
import { listDomains } from './queries.ts'
import { domainChanged, tooManyDomains, upstreamSigns, upstreamUnavailable } from './refusals.ts'
import { prepareRotation, rotateDkim } from './rotate-dkim.ts'
import { Domain, showDomain } from './show-domain.ts'
import { type Check, prepareVerification, readDomain, verifyDomain } from './verify-domain.ts'

const area = 'Domains'
const read = { area, scope: 'domain.read', effect: 'read' } as const
const write = { area, scope: 'domain.write', effect: 'change' } as const
const Name = Type.String({ maxLength: 1_000, description: 'Such as mail.example.com' })
const params = closed({ domain: Name })
const body = closed({ domain: Name })

export const listDomainsOwn = operation({
  ...read,
  name: 'domain.list',
  http: 'GET /api/v1/domains',
  summary: 'List the declared domains with the state of SPF, DKIM and DMARC, newest first',
  description: 'States are those of checked_at; domain.verify reads DNS anew.',
  query: closed(pageQuery),
  reply: pageOf(Domain),
}).run(async (ctx, { query: { limit = 50, cursor } }) => {
  const { rows, nextCursor } = await pageOfRows(
    ctx,
    { list: 'domains', filter: {}, limit, cursor },
    (after, most) => listDomains(ctx.db, ctx.caller.accountId, { after, limit: most }),
    ({ id }) => id,
  )
  return { data: rows.map(showDomain), next_cursor: nextCursor }
})

export function declareDomainOwn(needs: DomainNeeds) {
  const made = prepared<Awaited<ReturnType<typeof prepareDeclaration>>>()
  return operation({
    ...write,
    name: 'domain.declare',
    http: 'POST /api/v1/domains',
    summary: 'Declare a domain to send from; gives the DNS records to publish',
    description:
      'It is verified once DNS shows a record that only this account was given, and DKIM works. 200 when it is known.',
    idempotent: true,
    body,
    findFaults: (_ctx, { domain = '' }) => refusalsOf(() => readNewName(domain)),
    status: [201, 200],
    reply: Domain,
    refusals: [tooManyDomains, upstreamUnavailable, domainChanged],
    prepare: async (ctx, input) =>
      made.put(input, await prepareDeclaration(needs, ctx, readNewName(input.body.domain))),
  }).run(async (ctx, input) => {
    const { row, isNew } = await declareDomain(needs, ctx, readNewName(input.body.domain), made.take(input))
    return answer(isNew ? 201 : 200, showDomain(row))
  })
}

export function verifyDomainOwn(needs: DomainNeeds) {
  const checks = prepared<Check>()
  return operation({
    ...write,
    name: 'domain.verify',
    http: 'POST /api/v1/domains/verify',
    summary: 'Read the records of a domain from public DNS, with a verdict for each',
    body,
    findFaults: (_ctx, { domain = '' }) => refusalsOf(() => readName(domain)),
    reply: Domain,
    refusals: [notFound],
    prepare: async (ctx, input) =>
      checks.put(input, await prepareVerification(needs, ctx, readName(input.body.domain))),
  }).run(async (ctx, input) => {
    const row = await verifyDomain(needs, ctx, readName(input.body.domain), checks.take(input))
    return showDomain(row)
  })
}

export const getDomainDns = operation({
  ...read,
  name: 'domain.dns',
  http: 'GET /api/v1/domains/{domain}/dns',
  summary: 'Read which DNS records a domain needs and the state of each',
  params,
  reply: Domain,
  refusals: [notFound],
}).run(async (ctx, input) => showDomain(await readDomain(ctx, readName(input.params.domain))))

export function rotateDkimOwn(needs: DomainNeeds) {
  const rotations = prepared<Awaited<ReturnType<typeof prepareRotation>>>()
  return operation({
    ...write,
    name: 'domain.rotate',
    http: 'POST /api/v1/domains/{domain}/dkim/rotate',
    summary: 'Make a second DKIM key, to take over once DNS shows it',
    description:
      'The old key signs until then, and its record is to stay for seven days more. While a rotation is under way, ' +
      'another call makes no further key.',
    params,
    reply: Domain,
    refusals: [notFound, upstreamSigns],
    prepare: async (ctx, input) =>
      rotations.put(input, await prepareRotation(needs, ctx, readName(input.params.domain))),
  }).run(async (ctx, input) => {
    const row = await rotateDkim(needs, ctx, readName(input.params.domain), rotations.take(input))
    return showDomain(row)
  })
}

export const deleteDomainOwn = operation({
  ...write,
  name: 'domain.delete',
  http: 'DELETE /api/v1/domains/{domain}',
  summary: 'Delete a domain with its DKIM keys',
  description: 'Messages from it are no longer signed. Declared again it gets new keys and a new proof.',
  effect: 'irreversible',
  params,
  reply: closed({ domain: Type.String(), deleted: Type.Boolean() }),
  refusals: [notFound],
}).run(async (ctx, input) => {
  const domain = readName(input.params.domain)
  await deleteDomain(ctx, domain)
  return { domain, deleted: true }
})
