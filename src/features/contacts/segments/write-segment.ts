import { type Static, Type } from 'typebox'
import type { Ctx } from '../../../kernel/ctx.ts'
import { missingParameter, notFound } from '../../../kernel/refusals.ts'
import { closed } from '../../../kernel/schema.ts'
import { given, oneLine } from '../../../kernel/v3/lenient.ts'
import { type Condition, isColumn, operators } from './condition-queries.ts'
import { beginToCount, forgetUnasked } from './count-queries.ts'
import {
  deleteSegment,
  findSegment,
  insertSegment,
  lockSegment,
  type SegmentRow,
  updateSegment,
} from './queries.ts'
import { readCondition } from './read-condition.ts'

const Text = Type.Optional(Type.String({ maxLength: 250 }))

export const SegmentBody = closed({
  name: Text,
  categoryName: Text,
  attribute: Text,
  operator: Type.Optional(Type.String({ description: `${operators.join(', ')}, as the attribute allows` })),
  value: Type.Optional(Type.Unknown({ description: 'A list for in; nothing for is_set and is_not_set' })),
})

export type SegmentBody = Static<typeof SegmentBody>

export const segmentUnknown = () => notFound({ message: 'Segment ID does not exist', param: 'id' })

export async function readSegment(ctx: Ctx, id: number): Promise<SegmentRow> {
  const found = await findSegment(ctx.db, ctx.caller.accountId, id)
  if (!found) throw segmentUnknown()
  return found
}

export async function createSegment(ctx: Ctx, body: SegmentBody): Promise<number> {
  const name = given(oneLine(body.name ?? ''))
  if (name === undefined) throw missingParameter({ message: 'Segment name is missing', param: 'name' })
  const condition = await readCondition(ctx, body)
  const fields = { name, category_name: oneLine(body.categoryName ?? ''), ...condition }
  await ensureCounted(ctx, condition.attribute)
  return Number((await insertSegment(ctx.db, ctx.caller.accountId, fields, ctx.now)).id)
}

/** What is not given stays; the condition that results must be one that could be created. */
export async function changeSegment(ctx: Ctx, id: number, body: SegmentBody): Promise<void> {
  const { accountId } = ctx.caller
  const found = await lockSegment(ctx.db, accountId, id)
  if (!found) throw segmentUnknown()
  const isCondition = [body.attribute, body.operator, body.value].some(isGiven)
  const asked = {
    attribute: given(body.attribute) ?? found.attribute,
    operator: given(body.operator) ?? found.operator,
    value: isGiven(body.value) ? body.value : found.value,
  }
  const fields = {
    name: given(oneLine(body.name ?? '')) ?? found.name,
    category_name: body.categoryName === undefined ? found.category_name : oneLine(body.categoryName),
    ...(isCondition ? await readCondition(ctx, asked) : conditionOf(found)),
  }
  await ensureCounted(ctx, fields.attribute)
  await updateSegment(ctx.db, { accountId, id: found.id }, fields, ctx.now)
  if (fields.attribute !== found.attribute) await forgetUnasked(ctx.db, accountId)
}

/** What stands in a column of its own is counted there. */
async function ensureCounted({ db, caller }: Ctx, attribute: string): Promise<void> {
  if (!isColumn(attribute)) await beginToCount(db, { accountId: caller.accountId, name: attribute })
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null && value !== ''
}

export function conditionOf({ attribute, operator, value }: SegmentRow) {
  return { attribute, operator, value }
}

/** Who is in it. */
export function membersOf(found: SegmentRow): Condition {
  return { ...conditionOf(found), isOrphan: found.is_orphan }
}

export async function removeSegment(ctx: Ctx, id: number): Promise<void> {
  if ((await deleteSegment(ctx.db, ctx.caller.accountId, id)) === 0) throw segmentUnknown()
  await forgetUnasked(ctx.db, ctx.caller.accountId)
}
