import { Type } from 'typebox'
import { operation } from '../../../kernel/operation.ts'
import { closed, orNull, words } from '../../../kernel/schema.ts'
import { scopeNames } from '../../../kernel/scope.ts'
import { readUsage } from './read-usage.ts'

const Count = Type.Integer({ minimum: 0 })

export const getUsage = operation({
  name: 'usage.get',
  http: 'GET /api/v1/usage',
  area: 'Account',
  summary: 'Read what was sent and what is left',
  description:
    'The month and the day of the account, and the scopes, cap and remainder of the calling key. Days are UTC.',
  scope: 'billing.read',
  effect: 'read',
  reply: closed({
    month: closed({ sent: Count, quota: orNull(Count), remaining: orNull(Count) }),
    day: closed({ sent: Count }),
    key: closed({
      id: Type.String(),
      name: Type.String(),
      scopes: Type.Array(words(scopeNames)),
      daily_cap: orNull(Count),
      used_today: Count,
      remaining: orNull(Count),
      sender_domains: orNull(Type.Array(Type.String())),
      mode: words(['live', 'test']),
    }),
  }),
}).run((ctx) => readUsage(ctx))
