// For a customer's own unsubscribe page. The token is all that is needed: it also says whose account it is.
import { Type } from 'typebox'
import type { Db } from '../../../kernel/db.ts'
import { type Operation, operation } from '../../../kernel/operation.ts'
import { notFound } from '../../../kernel/refusals.ts'
import { closed, words } from '../../../kernel/schema.ts'
import { type FindUnsubscribeKeys, readUnsubscribeToken, type UnsubscribeToken } from './tokens.ts'
import { readStanding, type Standing, unsubscribe } from './unsubscribe.ts'

const shared = { area: 'Contacts', scope: null, public: true } as const
const params = closed({ token: Type.String({ description: 'The last part of an unsubscribe link' }) })
const Email = Type.String()

export const checkUnsubscribeV3 = (findKeys: FindUnsubscribeKeys): Operation =>
  operation({
    ...shared,
    name: 'unsubscribe.check',
    http: 'GET /v3/unsubscribe/{token}',
    summary: 'Check an unsubscribe token',
    description: 'Changes nothing. Without a list the token is for all mail of the account.',
    effect: 'read',
    params,
    reply: closed({
      valid: Type.Boolean(),
      email: Email,
      status: words(['subscribed', 'unsubscribed']),
      scope: words(['all', 'list']),
      listId: Type.Optional(Type.Integer()),
    }),
    refusals: [notFound],
  }).run(async (ctx, { params: { token } }) => {
    const { read, standing } = await readWith(ctx.db, findKeys, token)
    const { email, listId } = read
    const about = { valid: true, email, status: standing.status }
    return listId === undefined
      ? { ...about, scope: 'all' as const }
      : { ...about, scope: 'list' as const, listId: Number(listId) }
  })

export const confirmUnsubscribeV3 = (findKeys: FindUnsubscribeKeys): Operation =>
  operation({
    ...shared,
    name: 'unsubscribe.confirm',
    http: 'POST /v3/unsubscribe/{token}',
    summary: 'Unsubscribe the person of a token',
    description: 'From the list of the token, or from all mail. May be repeated.',
    effect: 'change',
    // A customer's page, or a mail program, posts one.
    ignoresForms: true,
    params,
    reply: closed({ email: Email, status: words(['unsubscribed']) }),
    refusals: [notFound],
  }).run(async (ctx, { params: { token } }) => {
    const { read } = await readWith(ctx.db, findKeys, token)
    await unsubscribe(ctx.db, read, ctx.now)
    return { email: read.email, status: 'unsubscribed' as const }
  })

type Read = { read: UnsubscribeToken; standing: Standing }

async function readWith(db: Db, findKeys: FindUnsubscribeKeys, token: string): Promise<Read> {
  const read = readUnsubscribeToken(await findKeys(), token)
  const standing = read && (await readStanding(db, read))
  if (read && standing) return { read, standing }
  throw notFound({ message: 'This unsubscribe token is not valid.' })
}
