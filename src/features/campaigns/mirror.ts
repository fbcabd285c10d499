// A message as a page: with its recipient's data for whoever holds the link of that message, with nobody's for whoever
// holds the campaign's.
import type { Db } from '../../kernel/db.ts'
import { attributeNames } from '../contacts/attributes/names.ts'
import { findContact } from '../contacts/contacts/queries.ts'
import { readableOf } from '../contacts/contacts/readable.ts'
import { type Mirrored, readMirrorToken } from '../messages/mirror-link.ts'
import { readPage } from '../messages/read-page.ts'
import { linkFiller } from '../messages/recipient-links.ts'
import type { CampaignRow } from './campaign-row.ts'
import { campaignLinks, sharedLinks } from './links.ts'
import { findMirrored } from './mirror-queries.ts'
import { findCampaign } from './queries.ts'
import { type CampaignRecipient, compileCampaign, renderCampaign } from './render-campaign.ts'
import type { LinkSource } from './send-test.ts'

type Shown = { html: string; subject: string }

export type Mirror = Shown & { of: Mirrored }

type MirrorSource = LinkSource & { now: () => Date }

/** Nothing for a link that is not ours, or whose message or campaign is gone. */
export async function readMirror(db: Db, source: MirrorSource, token: string): Promise<Mirror | undefined> {
  const of = readMirrorToken(await source.unsubscribeKeys(), token)
  if (!of) return undefined
  const shown =
    of.campaignId === undefined
      ? await readPage(db, linkFiller(source), of)
      : await ofCampaign(db, source, of)
  return shown && { ...shown, of }
}

type OfCampaign = Extract<Mirrored, { campaignId: string }>

async function ofCampaign(db: Db, source: MirrorSource, of: OfCampaign): Promise<Shown | undefined> {
  const campaign = await findCampaign(db, { accountId: of.accountId, id: of.campaignId })
  const recipient = campaign && (await recipientOf(db, source, { ...of, winner: campaign.winner }))
  if (!recipient) return undefined
  const compiled = compileCampaign(campaign, await attributeNames(db, of.accountId))
  return renderCampaign(compiled, { ...recipient, isPage: true })
}

async function recipientOf(
  db: Db,
  { unsubscribeKeys, baseUrl, now }: MirrorSource,
  { winner, ...of }: OfCampaign & Pick<CampaignRow, 'winner'>,
): Promise<CampaignRecipient | undefined> {
  const needs = { keys: await unsubscribeKeys(), baseUrl }
  const { accountId, messageId } = of
  if (messageId === undefined) return { email: '', attributes: {}, links: sharedLinks(needs, of), now: now() }
  const message = await findMirrored(db, { ...of, messageId })
  if (!message) return undefined
  const contact = await findContact(db, accountId, { email: message.recipient })
  const links = campaignLinks(needs, { ...of, email: message.recipient, messageId })
  const attributes = contact ? await readableOf(db, { accountId, now: now() }, contact) : {}
  // The rest of an A/B test got what won.
  const got = message.variant === 'R' ? winner : message.variant
  const variant = got === 'B' ? 'B' : 'A'
  return { email: message.recipient, attributes, links, now: now(), variant }
}
