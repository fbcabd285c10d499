import type { Ctx } from '../../../kernel/ctx.ts'
import { notFound } from '../../../kernel/refusals.ts'
import { readSettings } from '../settings/settings.ts'
import { readUsage } from '../usage/read-usage.ts'
import { listAccounts } from './queries.ts'

export async function readAccount(ctx: Ctx) {
  const [account] = await listAccounts(ctx.db, ctx.caller.accountId)
  if (!account) throw notFound()
  return { account, settings: await readSettings(ctx), usage: await readUsage(ctx) }
}
