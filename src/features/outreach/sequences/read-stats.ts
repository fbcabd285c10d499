import { type Static, Type } from 'typebox'
import type { Ctx } from '../../../kernel/ctx.ts'
import { closed } from '../../../kernel/schema.ts'
import type { SequenceRow } from './queries.ts'
import { countReplies } from './reply-counts.ts'
import { countEnrollments, countMessages } from './stats-queries.ts'

export const Stats = closed({
  enrolled: Type.Integer(),
  active: Type.Integer(),
  finished: Type.Integer(),
  stopped: closed({ total: Type.Integer(), reasons: Type.Record(Type.String(), Type.Integer()) }),
  sent: Type.Integer(),
  unconfirmed: Type.Integer({ description: 'Of those sent: nobody knows whether the mail server took them' }),
  steps: Type.Array(closed({ step: Type.Integer({ description: 'From 1' }), sent: Type.Integer() })),
  replies: closed({
    total: Type.Integer(),
    interested: Type.Integer(),
    refusal: Type.Integer(),
    absence: Type.Integer(),
    unsubscribe: Type.Integer(),
    unclassified: Type.Integer(),
  }),
  bounces: Type.Integer(),
  unsubscribes: Type.Integer(),
})

const leftStates = ['sent', 'unconfirmed', 'bounced']
const bouncedStates = ['failed', 'bounced']

const sum = (rows: { count: number }[]) => rows.reduce((total, { count }) => total + count, 0)

export async function readStats(ctx: Ctx, { id, steps }: SequenceRow): Promise<Static<typeof Stats>> {
  const ref = { accountId: ctx.caller.accountId, id }
  const enrolled = await countEnrollments(ctx.db, ref)
  const messages = await countMessages(ctx.db, ref)
  const replies = await countReplies(ctx.db, ref)
  const inState = (state: string) => enrolled.filter((one) => one.state === state)
  const stopped = inState('stopped')
  const left = messages.filter(({ state }) => leftStates.includes(state))
  return {
    enrolled: sum(enrolled),
    active: sum(inState('active')),
    finished: sum(inState('finished')),
    stopped: {
      total: sum(stopped),
      reasons: Object.fromEntries(stopped.map(({ reason, count }) => [reason ?? 'manual', count])),
    },
    sent: sum(left),
    unconfirmed: sum(messages.filter(({ state }) => state === 'unconfirmed')),
    steps: steps.map((_, i) => ({ step: i + 1, sent: sum(left.filter(({ step }) => step === i)) })),
    replies: { total: Object.values(replies).reduce((total, n) => total + n, 0), ...replies },
    bounces: sum(messages.filter(({ state }) => bouncedStates.includes(state))),
    unsubscribes: sum(stopped.filter(({ reason }) => reason === 'unsubscribed')),
  }
}
