import type { Ctx } from '../../kernel/ctx.ts'
import type { Db } from '../../kernel/db.ts'
import { notFound } from '../../kernel/refusals.ts'
import { declaring } from './declarable.ts'
import { insertOwnKey, listOwnKeys, type NewKey } from './key-queries.ts'
import { type DomainNeeds, keepLook, type Looked, lookAtDomain } from './look-at-domain.ts'
import { asOwn, makeKey } from './make-key.ts'
import type { DomainRow } from './model.ts'
import { type DomainRef, findDomain, holdDomain } from './queries.ts'

/** A look at a declared domain, and the key that it lacks. */
export type Check = { looked: Looked; key: NewKey | undefined }

/** Undefined when the domain is not declared. */
export async function checkDomain(
  needs: DomainNeeds,
  db: Db,
  ref: DomainRef,
  at: Date,
): Promise<Check | undefined> {
  const row = await findDomain(db, ref)
  if (!row) return undefined
  const keys = await listOwnKeys(db, ref)
  // It was declared while a transport signed by itself.
  const lacksKey = !needs.identity && !keys.some(({ stage }) => stage === 'current')
  const key = lacksKey ? await makeKey(needs.secretKeys, ref, 'current') : undefined
  const upstream = needs.identity ? row.upstream : null
  const subject = { ...row, upstream, keys: key ? [...keys, asOwn(key)] : keys }
  return { key, looked: await lookAtDomain(needs, subject, at) }
}

/** In a transaction. */
export async function keepCheck(
  needs: DomainNeeds,
  db: Db,
  ref: DomainRef,
  { looked, key }: Check,
): Promise<DomainRow | undefined> {
  if (key && (await holdDomain(db, ref))) {
    const isThere = (await listOwnKeys(db, ref)).some(({ stage }) => stage === 'current')
    if (!isThere) await insertOwnKey(db, ref, key, looked.at)
  }
  return keepLook(db, needs, ref, looked)
}

export async function prepareVerification(needs: DomainNeeds, ctx: Ctx, domain: string): Promise<Check> {
  const check = await checkDomain(needs, ctx.db, { accountId: ctx.caller.accountId, domain }, ctx.now)
  if (!check) throw unknownDomain(domain)
  return check
}

export async function verifyDomain(
  needs: DomainNeeds,
  ctx: Ctx,
  domain: string,
  check: Check,
): Promise<DomainRow> {
  const row = await keepCheck(needs, ctx.db, { accountId: ctx.caller.accountId, domain }, check)
  if (!row) throw unknownDomain(domain)
  return row
}

export async function readDomain(ctx: Ctx, domain: string): Promise<DomainRow> {
  const row = await findDomain(ctx.db, { accountId: ctx.caller.accountId, domain })
  if (!row) throw unknownDomain(domain)
  return row
}

export const notDeclared = (domain: string) => ({
  message: `The domain ${domain} is not declared on this account.`,
  param: 'domain',
})

export function unknownDomain(domain: string) {
  return notFound({
    ...notDeclared(domain),
    action: declaring(domain),
  })
}
