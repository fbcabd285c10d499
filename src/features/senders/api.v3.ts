import { Type } from 'typebox'
import { domainOf, normalDomain } from '../../kernel/email-address.ts'
import { operation } from '../../kernel/operation.ts'
import { missingParameter, notFound } from '../../kernel/refusals.ts'
import { closed } from '../../kernel/schema.ts'
import { given, optional } from '../../kernel/v3/lenient.ts'
import { dailyCapReached, monthlyQuotaReached } from '../accounts/usage/refusals.ts'
import { recipientSuppressed } from '../messages/refusals.ts'
import { type CodeNeeds, checkCode, useCode } from './codes.ts'
import { domainErrors } from './domain-errors.ts'
import { listSenders } from './queries.ts'
import {
  activeOf,
  changeSender,
  createSender,
  removeSender,
  SenderBody,
  senderRef,
  senderTwice,
  senderUnknown,
} from './write-sender.ts'

const Text = Type.String()
const write = { area: 'Account', scope: 'domain.write' } as const
// What no identifier can be reaches no statement.
const params = closed({ senderId: Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }) })
const mailing = [senderTwice, recipientSuppressed, dailyCapReached, monthlyQuotaReached]

const Sender = closed({
  id: Type.Integer(),
  name: Text,
  email: Text,
  active: Type.Boolean({ description: 'Its domain is verified, or a code mailed to it was entered' }),
  ips: Type.Array(closed({ ip: Text, domain: Text, weight: Type.Integer() })),
})

export const listSendersV3 = operation({
  name: 'sender.list',
  http: 'GET /v3/senders',
  area: 'Account',
  scope: 'domain.read',
  summary: 'List the senders of the account',
  effect: 'read',
  query: closed({
    ip: Type.Optional(Type.String({ maxLength: 100, description: 'There are no dedicated addresses' })),
    domain: Type.Optional(Type.String({ maxLength: 253, description: 'Only senders of this domain' })),
  }),
  reply: closed({ senders: Type.Array(Sender) }),
}).run(async (ctx, { query: { ip, domain } }) => {
  const asked = given(domain)
  const known = asked === undefined ? undefined : normalDomain(asked)
  if (given(ip) !== undefined || (asked !== undefined && known === undefined)) return { senders: [] }
  const rows = await activeOf(ctx, await listSenders(ctx.db, ctx.caller.accountId, { domain: known }))
  const senders = rows.map(({ id, name, email, active }) => ({
    id: Number(id),
    name,
    email,
    active,
    ips: [],
  }))
  return { senders }
})

export const createSenderV3 = (needs: CodeNeeds) =>
  operation({
    ...write,
    name: 'sender.create',
    http: 'POST /v3/senders',
    needs: ['name', 'email'],
    summary: 'Declare a sender',
    description:
      'Active at once on a verified domain. Otherwise a code of six digits is mailed to the address; entering it ' +
      'makes the sender active. An address gets at most five codes a day. The code comes from the default sender of ' +
      'the account, else from a verified domain or an active sender of its, else from this service. It is mailed for ' +
      'a test key too, and for one without email.send.',
    effect: 'irreversible',
    body: SenderBody,
    status: 201,
    reply: closed({
      id: Type.Integer(),
      spfError: Type.Boolean({ description: 'The SPF record of the domain is not known to be right' }),
      dkimError: Type.Boolean({ description: 'The DKIM record of the domain is not known to be right' }),
    }),
    refusals: mailing,
  }).run(async (ctx, { body }) => {
    const { id, email } = await createSender(ctx, body, needs)
    return { id, ...(await domainErrors(ctx, domainOf(email))) }
  })

export const updateSenderV3 = (needs: CodeNeeds) =>
  operation({
    ...write,
    name: 'sender.update',
    http: 'PUT /v3/senders/{senderId}',
    summary: 'Change a sender',
    description:
      'An email that is new, or given again for a sender that is not active, gets a new code; for a test key too.',
    effect: 'irreversible',
    params,
    body: SenderBody,
    status: 204,
    reply: Type.Null(),
    refusals: [notFound, ...mailing],
  }).run(async (ctx, { params: { senderId }, body }) => {
    await changeSender(ctx, senderId, body, needs)
    return null
  })

const Code = Type.Integer({ minimum: 100_000, maximum: 999_999 })

/** The provider's clients of versions 2 and 3 have a wrong name for it. */
function codeOf({ otp, name }: { otp?: number | null; name?: unknown }): string | undefined {
  const code = otp ?? name
  // Anything else may not even have a text.
  if (typeof code !== 'number' && typeof code !== 'string') return undefined
  return /^[1-9]\d{5}$/.test(`${code}`) ? `${code}` : undefined
}

export const validateSenderV3 = (needs: CodeNeeds) =>
  operation({
    ...write,
    name: 'sender.validate',
    http: 'PUT /v3/senders/{senderId}/validate',
    needs: ['otp'],
    summary: 'Enter the code that was mailed to a sender',
    description: 'A code is valid for 24 hours and five tries.',
    effect: 'change',
    params,
    body: closed({ otp: optional(Code), name: Type.Optional(Type.Unknown()) }),
    secret: ['otp', 'name'],
    prepare: async (ctx, input) => {
      const { params, body } = input
      const code = codeOf(body)
      if (code === undefined) throw missingParameter({ message: 'otp is missing', param: 'otp' })
      const [sender] = await listSenders(ctx.db, ctx.caller.accountId, { id: params.senderId })
      if (!sender) throw senderUnknown()
      if (!sender.is_proven) await checkCode(ctx, needs, senderRef(ctx, params.senderId), code)
      return input
    },
    status: 204,
    reply: Type.Null(),
    refusals: [notFound],
  }).run(async (ctx, { params: { senderId }, body }) => {
    const [sender] = await listSenders(ctx.db, ctx.caller.accountId, { id: senderId })
    if (!sender) throw senderUnknown()
    if (!sender.is_proven) await useCode(ctx, needs, senderRef(ctx, senderId), codeOf(body) ?? '')
    return null
  })

export const deleteSenderV3 = operation({
  ...write,
  name: 'sender.delete',
  http: 'DELETE /v3/senders/{senderId}',
  summary: 'Delete a sender',
  effect: 'irreversible',
  params,
  status: 204,
  reply: Type.Null(),
  refusals: [notFound],
}).run(async (ctx, { params: { senderId } }) => {
  await removeSender(ctx, senderId)
  return null
})

const noIps = { area: 'Account', scope: 'domain.read', effect: 'read' } as const
const Ips = closed({
  ips: Type.Array(closed({ id: Type.Integer(), ip: Text, active: Type.Boolean(), domain: Text })),
})

export const listIpsV3 = operation({
  ...noIps,
  name: 'sender.ips',
  http: 'GET /v3/senders/ips',
  summary: 'List the dedicated addresses of the account: there are none',
  reply: Ips,
}).run(async () => ({ ips: [] }))

export const listSenderIpsV3 = operation({
  ...noIps,
  name: 'sender.own_ips',
  http: 'GET /v3/senders/{senderId}/ips',
  summary: 'List the dedicated addresses of a sender: there are none',
  params,
  reply: Ips,
  refusals: [notFound],
}).run(async (ctx, { params: { senderId } }) => {
  const [sender] = await listSenders(ctx.db, ctx.caller.accountId, { id: senderId })
  if (!sender) throw senderUnknown()
  return { ips: [] }
})
