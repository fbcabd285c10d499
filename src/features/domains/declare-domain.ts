import type { Ctx } from '../../kernel/ctx.ts'
import { insertOwnKey, type NewKey } from './key-queries.ts'
import { type DomainNeeds, keepLook, type Looked, lookAtDomain } from './look-at-domain.ts'
import { asOwn, makeKey, makeToken } from './make-key.ts'
import type { DomainRow } from './model.ts'
import { countDomains, findDomain, insertDomain } from './queries.ts'
import { domainChanged, mostDomains, tooManyDomains, upstreamUnavailable } from './refusals.ts'

type New = { token: string; key: NewKey | undefined; looked: Looked }

/** What a new domain needs, made outside the transaction; undefined when it is known already. */
export async function prepareDeclaration(
  needs: DomainNeeds,
  ctx: Ctx,
  domain: string,
): Promise<New | undefined> {
  const ref = { accountId: ctx.caller.accountId, domain }
  if (await findDomain(ctx.db, ref)) return undefined
  if ((await countDomains(ctx.db, ref.accountId)).count >= mostDomains) throw tooManyDomains()
  const key = needs.identity ? undefined : await makeKey(needs.secretKeys, ref, 'current')
  const token = makeToken()
  const subject = { domain, token, upstream: null, keys: key ? [asOwn(key)] : [] }
  const looked = await lookAtDomain(needs, subject, ctx.now)
  if (needs.identity && !looked.upstream) throw upstreamUnavailable()
  return { token, key, looked }
}

export async function declareDomain(
  needs: DomainNeeds,
  ctx: Ctx,
  domain: string,
  made: New | undefined,
): Promise<{ row: DomainRow; isNew: boolean }> {
  const ref = { accountId: ctx.caller.accountId, domain }
  const isNew = made !== undefined && (await insertDomain(ctx.db, ref, made.token, ctx.now)) !== undefined
  if (isNew && made.key) await insertOwnKey(ctx.db, ref, made.key, ctx.now)
  const row = isNew ? await keepLook(ctx.db, needs, ref, made.looked) : await findDomain(ctx.db, ref)
  if (!row) throw domainChanged()
  return { row, isNew }
}
