// A campaign as its readers would see it, sent to its authors: marked, not tracked, and counted nowhere.
import type { Ctx } from '../../kernel/ctx.ts'
import { domainOf } from '../../kernel/email-address.ts'
import { newUuid } from '../../kernel/id.ts'
import { attributeNames } from '../contacts/attributes/names.ts'
import { findContact } from '../contacts/contacts/queries.ts'
import { readableOf } from '../contacts/contacts/readable.ts'
import type { FindUnsubscribeKeys } from '../contacts/unsubscribe/tokens.ts'
import type { Attachment, Outgoing } from '../messages/queue-messages.ts'
import { weighed } from '../messages/weigh.ts'
import { refusingFaults } from '../transactional/v3/render.ts'
import { readAuthors, writeToAuthors } from './authors.ts'
import type { CampaignRow } from './campaign-row.ts'
import { type Links, testLinks } from './links.ts'
import { markTestSent } from './queries.ts'
import { refuseBadTemplates } from './read-content.ts'
import { compileCampaign, type RenderedCampaign, renderCampaign } from './render-campaign.ts'
import { readCampaign, refOf } from './write-campaign.ts'

/** What a test carries: fetched before. */
export type Test = { emailTo: string[]; attachments: Attachment[] }

export type LinkSource = { unsubscribeKeys: FindUnsubscribeKeys; baseUrl: string }

const mostTests = 50

/** Gives what the author should know. */
export async function sendTest(
  ctx: Ctx,
  id: number,
  { emailTo, attachments }: Test,
  links: LinkSource,
): Promise<string[]> {
  const campaign = await readCampaign(ctx, id)
  const recipients = await readAuthors(ctx, emailTo, { param: 'emailTo', most: mostTests })
  await refuseBadTemplates(campaign)
  const compiled = compileCampaign(campaign, await attributeNames(ctx.db, ctx.caller.accountId))
  const shared = await testLinksOf(links, campaign)
  const rendered: RenderedCampaign[] = []
  const tests: Outgoing[] = []
  const weight = weighed()
  for (const { email } of recipients) {
    const attributes = await attributesOf(ctx, email)
    const one = await refusingFaults('htmlContent', () =>
      renderCampaign(compiled, { email, attributes, links: shared, now: ctx.now }),
    )
    const test = { ...testOf(ctx, one), attachments }
    weight.add([test])
    rendered.push(one)
    tests.push(test)
  }
  await writeToAuthors(ctx, tests)
  await markTestSent(ctx.db, refOf(ctx, campaign.id))
  return rendered.some(({ isFooterAdded }) => isFooterAdded)
    ? ['footer with an unsubscribe link was added']
    : []
}

export async function testLinksOf(
  { unsubscribeKeys, baseUrl }: LinkSource,
  { account_id, id }: Pick<CampaignRow, 'account_id' | 'id'>,
): Promise<Links> {
  return testLinks({ keys: await unsubscribeKeys(), baseUrl }, { accountId: account_id, campaignId: id })
}

export async function attributesOf(
  { db, caller, now }: Ctx,
  email: string,
): Promise<Record<string, unknown>> {
  const { accountId } = caller
  const found = await findContact(db, accountId, { email: email.toLowerCase() })
  return found ? readableOf(db, { accountId, now }, found) : {}
}

function testOf(ctx: Ctx, rendered: RenderedCampaign): Omit<Outgoing, 'attachments'> {
  const { from, to, replyTo, html, text, headers } = rendered
  return {
    caller: ctx.caller,
    now: ctx.now,
    source: 'campaign',
    stream: 'transactional',
    from,
    recipient: to,
    subject: `[TEST] ${rendered.subject}`,
    parts: { from, to: [to], replyTo, html, text, headers },
    tags: [],
    metadata: { test: 'true' },
    messageId: `<${newUuid().replaceAll('-', '')}@${domainOf(from.email)}>`,
    track: { opens: false, clicks: false },
    suppressed: 'refuse',
  }
}
