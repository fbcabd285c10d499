import { Type } from 'typebox'
import { operation } from '../../../kernel/operation.ts'
import { closed, words } from '../../../kernel/schema.ts'
import { readAccount } from './read-account.ts'

const Text = Type.String()

const Account = closed({
  organization_id: Text,
  user_id: Type.Integer(),
  enterprise: Type.Boolean(),
  companyName: Text,
  email: Text,
  firstName: Text,
  lastName: Text,
  address: closed({ street: Text, city: Text, zipCode: Text, country: Text }),
  dateTimePreferences: closed({ timezone: Text, timeFormat: Text, dateFormat: Text }),
  plan: Type.Array(
    closed({
      type: words(['payAsYouGo', 'subscription']),
      credits: Type.Number({ description: 'Messages left this month' }),
      creditsType: words(['sendLimit']),
      startDate: Type.Optional(
        Type.String({ description: 'Of the month that credits are for; Unix seconds' }),
      ),
      endDate: Type.Optional(Type.String({ description: 'When credits are new; Unix seconds' })),
    }),
  ),
  relay: closed({
    enabled: Type.Boolean(),
    data: closed({ userName: Text, relay: Text, port: Type.Integer() }),
  }),
  marketingAutomation: closed({ enabled: Type.Boolean() }),
})

// The provider's clients show credits as a number; without a quota this one stands for "no end in sight".
export const unlimitedCredits = 1_000_000_000

// Programs take an account without an address for a key that is wrong. A name of RFC 2606 belongs to nobody.
const nobodyOf = (accountId: string) => `account-${accountId}@posthorn.invalid`

export type Relay = { enabled: boolean; host: string; port: number }

export const getAccount = (relay: Relay) =>
  operation({
    name: 'account.get',
    http: 'GET /v3/account',
    area: 'Account',
    summary: 'Read the account',
    scope: 'billing.read',
    effect: 'read',
    reply: Account,
  }).run(async (ctx) => {
    const { account, settings, usage } = await readAccount(ctx)
    const { quota, remaining } = usage.month
    return {
      organization_id: account.id,
      user_id: Number(account.id),
      enterprise: false,
      companyName: account.name,
      email: settings.default_sender?.email ?? nobodyOf(account.id),
      firstName: '',
      lastName: '',
      address: { street: '', city: '', zipCode: '', country: '' },
      dateTimePreferences: { timezone: settings.timezone, timeFormat: '24h', dateFormat: 'dd-mm-yyyy' },
      plan: [
        {
          type: quota === null ? 'payAsYouGo' : 'subscription',
          credits: remaining ?? unlimitedCredits,
          creditsType: 'sendLimit',
          ...(quota === null ? {} : monthOf(ctx.now)),
        },
      ],
      relay: { enabled: relay.enabled, data: { userName: 'apikey', relay: relay.host, port: relay.port } },
      // Every account has automations; the tracker that the provider's key belongs to does not exist here.
      marketingAutomation: { enabled: true },
    }
  })

function monthOf(now: Date) {
  const at = (months: number) => String(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + months, 1) / 1000)
  return { startDate: at(0), endDate: at(1) }
}
