import type { Ctx } from '../../../kernel/ctx.ts'
import { invalidParameter } from '../../../kernel/refusals.ts'
import { listSegmentsUsing } from '../segments/queries.ts'

type Used = { name: string; values?: (string | number)[] }

/**
 * Refuses to take away what a segment asks about: one of neq would then be everybody, and one that a campaign leaves
 * out nobody.
 */
export async function refuseUsed({ db, caller }: Ctx, { name, values }: Used): Promise<void> {
  if (values?.length === 0) return
  const using = await listSegmentsUsing(db, caller.accountId, name, values)
  const [first] = using
  if (!first) return
  const named = using.map((one) => `segment ${one.id} (${one.name})`).join(', ')
  const more = first.total > using.length ? ` and ${first.total - using.length} more` : ''
  const what = values ? `What is taken out of ${name}` : name
  throw invalidParameter({
    message: `${what} is used by ${named}${more}: change or delete these first`,
    param: 'attributeName',
  })
}
