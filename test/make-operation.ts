// Operations of the tests' own, for duties that no declared operation has yet or that need a slow or failing act.
import { Type } from 'typebox'
import type { Ctx } from '../src/kernel/ctx.ts'
import { operation } from '../src/kernel/operation.ts'
import { row, text } from '../src/kernel/row.ts'
import { closed } from '../src/kernel/schema.ts'
import { sql } from '../src/kernel/sql.ts'

const Body = closed({ note: Type.String({ maxLength: 100 }), secret: Type.Optional(Type.String()) })

/** Writes one row into the table `acts`, which the test makes. */
export const writeAct = (during: (ctx: Ctx) => Promise<void> = async () => {}) =>
  operation({
    name: 'act.write',
    http: 'POST /api/v1/test-acts',
    area: 'Account',
    summary: 'Write an act',
    scope: 'email.send',
    effect: 'change',
    perMinute: 60,
    idempotent: true,
    body: Body,
    secret: ['secret'],
    status: 202,
    reply: closed({ id: Type.String(), note: Type.String() }),
  }).run(async (ctx, { body }) => {
    const { id } = await ctx.db.one(
      row<{ id: string }>({ id: text }),
      sql`insert into acts (account_id, note) values (${ctx.caller.accountId}, ${body.note}) returning id`,
    )
    await during(ctx)
    return { id, note: body.note }
  })

export const createActs = sql`
  create table acts (
    id bigint generated always as identity primary key, account_id bigint not null, note text not null)`

/** A face of the compatible namespace, lenient as that one is. */
export const v3Act = operation({
  name: 'act.list',
  http: 'POST /v3/test-acts/{id}',
  area: 'Account',
  summary: 'Read back what was understood',
  scope: 'contacts.read',
  effect: 'dry',
  params: closed({ id: Type.Integer() }),
  query: closed({ limit: Type.Optional(Type.Integer({ maximum: 50 })) }),
  body: closed({ count: Type.Integer(), name: Type.Optional(Type.String()) }),
  reply: closed({ id: Type.Integer(), limit: Type.Integer(), count: Type.Integer() }),
}).run(async (_ctx, { params, query, body }) => ({
  id: params.id,
  limit: query.limit ?? 10,
  count: body.count,
}))
