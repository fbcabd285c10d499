// The start of a send: who gets it is decided once, for everybody, and from there on only counted.
import type { Db } from '../../../kernel/db.ts'
import { domainOf } from '../../../kernel/email-address.ts'
import type { Log } from '../../../kernel/log.ts'
import { countBelievedEmpty } from '../../contacts/believed-empty-queries.ts'
import { holdForExport } from '../../contacts/export/queries.ts'
import { type ResolvedRecipients, resolveRecipients } from '../recipients-queries.ts'
import { forgetTotal, lockWaiting, type Ref, suspend } from './campaign-queries.ts'
import {
  countGone,
  dropErased,
  findUnfrozen,
  insertRecipients,
  listUnfrozen,
  markFrozen,
  takeFreezing,
} from './freeze-queries.ts'
import { giveBackReserved } from './reserve-sending.ts'
import { spendCampaign } from './spend-campaign.ts'
import { tellInterrupted } from './tell-interrupted.ts'

type Needs = { db: Db; log: Log; stopping: AbortSignal }

export async function freezeCampaigns({ db, log, stopping }: Needs, now: Date): Promise<void> {
  const next = inTurn(db)
  for (let ref = await next(); ref && !stopping.aborted; ref = await next()) {
    const taken = ref
    await countBelievedEmpty(db)
    await db
      .patiently((tx) => freezeCampaign(tx, taken, now), stopping)
      .catch((error) => {
        if (!stopping.aborted) log.error({ err: error, campaign: taken.id }, 'freezing a campaign failed')
      })
  }
}

/** Asked for anew each time: whoever comes with one campaign does not wait for all that another account sends. */
function inTurn(db: Db): () => Promise<Ref | undefined> {
  const tried = new Set<string>()
  const turns = new Map<string, number>()
  const turnsOf = ({ account_id }: Ref) => turns.get(account_id) ?? 0
  return async () => {
    const left = (await listUnfrozen(db)).filter(({ id }) => !tried.has(id))
    const [first, ...others] = left
    if (!first) return undefined
    const next = others.reduce((least, one) => (turnsOf(one) < turnsOf(least) ? one : least), first)
    tried.add(next.id)
    turns.set(next.account_id, turnsOf(next) + 1)
    return next
  }
}

async function freezeCampaign(tx: Db, ref: Ref, now: Date): Promise<void> {
  if (!(await takeFreezing(tx, ref)).taken) return
  const campaign = await findUnfrozen(tx, ref)
  if (!campaign) return
  const recipients = await resolveRecipients(tx, ref.account_id, campaign.recipients)
  const missing = missingFrom(recipients)
  if (missing && campaign.in_force === 'in_process') return interrupt(tx, ref, missing, now)
  const domain = domainOf(campaign.sender.email)
  const { total, waiting } = await insertRecipients(tx, { campaign, recipients, domain, at: now })
  const current = await lockWaiting(tx, ref)
  // It was paused and changed meanwhile: what was made is not what is asked for any more.
  if (!current || current.modified_at.getTime() !== campaign.modified_at.getTime())
    throw new Error('the campaign was changed while its recipients were frozen')
  // From here on whoever erases somebody waits, and finds what is written down.
  await holdForExport(tx, ref.account_id)
  const dropped = await dropErased(tx, ref)
  const gone = Math.max(0, (campaign.total ?? 0) - total)
  if (gone > 0) await countGone(tx, campaign, gone, now)
  await markFrozen(tx, campaign, { total: total + gone, at: now })
  await giveBackReserved(tx, ref)
  if (current.in_force === 'in_process') await spendCampaign(tx, current, waiting - dropped.waiting, now)
}

async function interrupt(tx: Db, ref: Ref, reason: string, now: Date): Promise<void> {
  const campaign = await lockWaiting(tx, ref)
  if (campaign?.in_force !== 'in_process') return
  await suspend(tx, ref, reason)
  await forgetTotal(tx, ref)
  await tellInterrupted(tx, ref, reason, now)
}

function missingFrom({ missing }: ResolvedRecipients): string | undefined {
  if (missing.length === 0) return undefined
  return `The campaign names what is no more: ${missing.join(', ')}. Change its recipients, then resume it.`
}
