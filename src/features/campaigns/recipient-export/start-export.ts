import type { Ctx } from '../../../kernel/ctx.ts'
import { readUrl } from '../../../kernel/v3/url.ts'
import { readSettings } from '../../accounts/settings/settings.ts'
import { insertExport } from '../../contacts/export/queries.ts'
import { attributeColumns } from '../../contacts/export/start-export.ts'
import { countedBy } from '../../messages/counts/read-counts.ts'
import { readCampaign } from '../write-campaign.ts'
import { hasReason, type RecipientsType } from './kinds.ts'
import { addressColumn, type RecipientFilter, reasonColumn } from './read-recipients.ts'

type Asked = { recipientsType: RecipientsType; notifyURL?: string }

export async function startRecipientExport(ctx: Ctx, id: number, asked: Asked): Promise<number> {
  const { id: campaignId } = await readCampaign(ctx, id)
  const { recipientsType } = asked
  const counted = countedBy(await readSettings(ctx))
  const filter: RecipientFilter = { campaignId, recipientsType, counted }
  const attributes = await attributeColumns(ctx)
  const columns = [addressColumn, 'SMS', ...attributes, ...(hasReason(recipientsType) ? [reasonColumn] : [])]
  const settings = { columns, filter, notifyUrl: readUrl(asked.notifyURL, 'notifyURL') }
  const named = { name: 'EXPORTRECIPIENTS', settings } as const
  return Number((await insertExport(ctx.db, ctx.caller.accountId, named, ctx.now)).id)
}
