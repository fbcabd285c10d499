// Domains that the account does not write to: every address of theirs counts as suppressed.
import { Type } from 'typebox'
import { normalDomain } from '../../kernel/email-address.ts'
import { operation } from '../../kernel/operation.ts'
import { invalidParameter, missingParameter, notFound } from '../../kernel/refusals.ts'
import { closed } from '../../kernel/schema.ts'
import { given } from '../../kernel/v3/lenient.ts'
import { deleteBlockedDomain, insertBlockedDomain, listBlockedDomains } from './blocked-domain-queries.ts'

const shared = { area: 'Transactional', scope: 'contacts.write', effect: 'change' } as const
const most = 10_000

export const listBlockedDomainsV3 = operation({
  name: 'blocked_domain.list',
  http: 'GET /v3/smtp/blockedDomains',
  area: 'Transactional',
  scope: 'contacts.read',
  effect: 'read',
  summary: 'List the domains that the account does not write to',
  reply: closed({ domains: Type.Array(Type.String()) }),
}).run(async ({ db, caller }) => ({
  domains: (await listBlockedDomains(db, caller.accountId)).map(({ domain }) => domain),
}))

export const blockDomainV3 = operation({
  ...shared,
  name: 'blocked_domain.create',
  http: 'POST /v3/smtp/blockedDomains',
  needs: ['domain'],
  summary: 'Stop writing to all addresses of a domain',
  body: closed({ domain: Type.Optional(Type.String({ maxLength: 1_000 })) }),
  status: 201,
  reply: Type.Null(),
}).run(async ({ db, caller, now }, { body }) => {
  const asked = given(body.domain)
  if (asked === undefined) throw missingParameter({ message: 'domain is missing', param: 'domain' })
  if (await insertBlockedDomain(db, caller.accountId, { domain: readDomain(asked), at: now, most }))
    return null
  throw invalidParameter({ message: `At most ${most} domains can be blocked`, param: 'domain' })
})

export const unblockDomainV3 = operation({
  ...shared,
  name: 'blocked_domain.delete',
  http: 'DELETE /v3/smtp/blockedDomains/{domain}',
  summary: 'Write to the addresses of a domain again',
  params: closed({ domain: Type.String({ maxLength: 1_000 }) }),
  status: 204,
  reply: Type.Null(),
  refusals: [notFound],
}).run(async ({ db, caller }, { params: { domain } }) => {
  if ((await deleteBlockedDomain(db, caller.accountId, readDomain(domain))) > 0) return null
  throw notFound({ message: 'Domain does not exist', param: 'domain' })
})

function readDomain(given: string): string {
  const domain = normalDomain(given)
  if (domain !== undefined) return domain
  throw invalidParameter({ message: 'domain is not valid', param: 'domain' })
}
