// A second key beside the first: the old one signs until DNS shows the new one.
import type { Ctx } from '../../kernel/ctx.ts'
import { insertOwnKey, listOwnKeys, type NewKey } from './key-queries.ts'
import { type DomainNeeds, keepLook, type Looked, lookAtDomain } from './look-at-domain.ts'
import { asOwn, makeKey } from './make-key.ts'
import type { DomainRow, OwnKey } from './model.ts'
import { findDomain, holdDomain } from './queries.ts'
import { upstreamSigns } from './refusals.ts'
import { unknownDomain } from './verify-domain.ts'

type Rotation = { key: NewKey; looked: Looked }

const isUnderWay = (keys: OwnKey[]) => keys.some(({ stage }) => stage === 'next')

/** Undefined when a rotation is under way: then there is a new key already. */
export async function prepareRotation(
  needs: DomainNeeds,
  ctx: Ctx,
  domain: string,
): Promise<Rotation | undefined> {
  const ref = { accountId: ctx.caller.accountId, domain }
  const row = await findDomain(ctx.db, ref)
  if (!row) throw unknownDomain(domain)
  if (needs.identity) throw upstreamSigns()
  const keys = await listOwnKeys(ctx.db, ref)
  if (isUnderWay(keys)) return undefined
  const stage = keys.some((key) => key.stage === 'current') ? 'next' : 'current'
  const key = await makeKey(needs.secretKeys, ref, stage)
  const subject = { ...row, upstream: null, keys: [...keys, asOwn(key)] }
  return { key, looked: await lookAtDomain(needs, subject, ctx.now) }
}

export async function rotateDkim(
  needs: DomainNeeds,
  ctx: Ctx,
  domain: string,
  rotation: Rotation | undefined,
): Promise<DomainRow> {
  const ref = { accountId: ctx.caller.accountId, domain }
  const held = await holdDomain(ctx.db, ref)
  if (!held) throw unknownDomain(domain)
  if (!rotation || isUnderWay(await listOwnKeys(ctx.db, ref))) return held
  await insertOwnKey(ctx.db, ref, rotation.key, ctx.now)
  return (await keepLook(ctx.db, needs, ref, rotation.looked)) ?? held
}
