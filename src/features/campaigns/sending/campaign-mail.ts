// What delivery asks of campaigns: the message of one recipient, as long as the campaign is being sent.
import { LRUCache } from 'lru-cache'
import type { Db } from '../../../kernel/db.ts'
import { type Calculator, readerOf } from '../../contacts/attributes/calculate.ts'
import { attributeNames } from '../../contacts/attributes/names.ts'
import type { FindUnsubscribeKeys } from '../../contacts/unsubscribe/tokens.ts'
import type { AttachmentRow, DueRow } from '../../messages/delivery-queries.ts'
import { unverifiedRefusal, verifiedSenders } from '../../messages/senders/verified-sender.ts'
import type { CampaignMail, Written } from '../../messages/settle.ts'
import { actOf } from '../../messages/simulator.ts'
import { environmentOf } from '../../messages/templates/compile.ts'
import { campaignLinks } from '../links.ts'
import {
  type CompiledCampaign,
  renderCampaign,
  renderHead,
  scopeOf,
  type Variant,
} from '../render-campaign.ts'
import { lockWaiting, type Ref, suspend } from './campaign-queries.ts'
import { type CampaignSheets, campaignSheets } from './campaign-sheets.ts'
import { compileWithText } from './compile-with-text.ts'
import { findFile } from './file-queries.ts'
import { interruptedReason } from './follow-campaigns.ts'
import {
  findContent,
  findStanding,
  lockCampaignsOf,
  putAside,
  type StandingRow,
} from './hand-over-queries.ts'

export type MailNeeds = { db: Db; now: () => Date; unsubscribeKeys: FindUnsubscribeKeys; baseUrl: string }

type Running = {
  compiled: CompiledCampaign
  sheets: CampaignSheets | undefined
  read: Calculator
  modifiedAt: number
}
type Known = { askedAt: number; running: Promise<Running | undefined> }

// So long a pause may go unnoticed; signing and the way to the upstream come on top, and all of it is to stay under
// a second on a machine that stumbles, too.
const freshMs = 200
const mostFileBytes = 64 * 1024 * 1024

export function campaignMail(needs: MailNeeds): CampaignMail {
  const known = new LRUCache<string, Known>({ max: 100 })
  const files = new LRUCache<string, AttachmentRow>({
    maxSize: mostFileBytes,
    sizeCalculation: ({ content }) => content.length + 1,
  })

  function runningOf(ref: Ref): Promise<Running | undefined> {
    const before = known.get(ref.id)
    if (before && performance.now() - before.askedAt < freshMs) return before.running
    const running = find(needs, ref, before)
    known.set(ref.id, { askedAt: performance.now(), running })
    running.catch(() => known.delete(ref.id))
    return running
  }

  async function fileOf(ref: Ref): Promise<AttachmentRow> {
    const file = files.get(ref.id) ?? { ...(await findFile(needs.db, ref)), content_id: null }
    files.set(ref.id, file)
    return file
  }

  return {
    async write(due) {
      const ref = { account_id: due.account_id, id: due.campaign_id ?? '' }
      const running = await runningOf(ref)
      const written = running && (await write(needs, running, due))
      return running?.compiled.campaign.extras.attachmentUrl && written
        ? { ...written, files: [await fileOf(ref)] }
        : written
    },
    async forbid(due, why) {
      const ref = { account_id: due.account_id, id: due.campaign_id ?? '' }
      const said = `${why.charAt(0).toUpperCase()}${why.slice(1)}`
      await stop(needs.db, ref, `${said}. Then resume the campaign.`)
    },
    async interrupt(tx, claims) {
      await lockCampaignsOf(tx, claims)
      await putAside(tx, claims, interruptedReason)
    },
  }
}

/** Compiled again only when it was changed. */
async function find(
  { db, now }: MailNeeds,
  ref: Ref,
  before: Known | undefined,
): Promise<Running | undefined> {
  const standing = await findStanding(db, ref)
  if (standing?.in_force !== 'in_process' || (await isStopped(db, ref, standing))) return undefined
  const modifiedAt = standing.modified_at.getTime()
  const last = await before?.running
  if (last?.modifiedAt === modifiedAt) return last
  const names = await attributeNames(db, ref.account_id)
  const compiled = compileWithText(await findContent(db, ref), names)
  const read = await readerOf(db, ref.account_id, now())
  return { compiled, sheets: campaignSheets(compiled), read, modifiedAt }
}

/** The sender was the account's when the send began; where it is no more, nothing further goes out in its name. */
async function isStopped(db: Db, ref: Ref, { sender, verified_sender_only }: StandingRow): Promise<boolean> {
  if (!verified_sender_only) return false
  const from = { accountId: ref.account_id, email: sender.email }
  if ((await verifiedSenders(db, [from]))(from)) return false
  const { message } = await unverifiedRefusal(db, from)
  await stop(db, ref, `${message} Mend it, then resume the campaign.`)
  return true
}

function stop(db: Db, ref: Ref, reason: string): Promise<void> {
  return db.transaction(async (tx) => {
    if ((await lockWaiting(tx, ref))?.in_force === 'in_process') await suspend(tx, ref, reason)
  })
}

async function write(
  { now, unsubscribeKeys, baseUrl }: MailNeeds,
  { compiled, sheets, read }: Running,
  due: DueRow,
): Promise<Written> {
  const { account_id, id, recipient, campaign_id, list_id, attributes } = due
  const of = { accountId: account_id, campaignId: campaign_id ?? '', email: recipient, messageId: id }
  const reader = {
    email: recipient,
    attributes: attributes ? read(attributes, now()) : {},
    links: campaignLinks({ keys: await unsubscribeKeys(), baseUrl }, of, compiled.readsMirror),
    now: now(),
    listId: list_id,
    variant: variantOf(compiled, due),
  }
  // The simulator reads what it is sent.
  if (!sheets || actOf(recipient)) {
    const { subject, isFooterAdded: _, to, ...parts } = await renderCampaign(compiled, reader)
    return { parts: { ...parts, to: [to] }, subject }
  }
  const scope = scopeOf(compiled.campaign, reader)
  const { subject, to, ...parts } = await renderHead(compiled, scope, reader)
  const environment = environmentOf(scope)
  return { parts: { ...parts, to: [to] }, subject, sheets: { ...sheets, environment } }
}

/** The rest of an A/B test was given the winner's subject when it was released. */
function variantOf({ campaign }: CompiledCampaign, { variant, subject }: DueRow): Variant {
  if (variant === 'R') return subject === campaign.ab_test?.subjectB ? 'B' : 'A'
  return variant === 'B' ? 'B' : 'A'
}
