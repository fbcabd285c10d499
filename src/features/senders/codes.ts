// The code that proves an address: mailed to it, kept as a keyed hash, good for a day and five tries.
import { createHmac, randomInt, timingSafeEqual } from 'node:crypto'
import type { Ctx } from '../../kernel/ctx.ts'
import { type Address, domainOf, normalDomain } from '../../kernel/email-address.ts'
import { newUuid } from '../../kernel/id.ts'
import { Refusal } from '../../kernel/refusal.ts'
import { invalidParameter, rateLimited } from '../../kernel/refusals.ts'
import { tokenKeysOf } from '../../kernel/signed-token.ts'
import { dayOf } from '../../kernel/v3/dates.ts'
import { publicName } from '../accounts/account/public-name.ts'
import { listAccounts } from '../accounts/account/queries.ts'
import { readSettings } from '../accounts/settings/settings.ts'
import { findDomains } from '../domains/domain-states.ts'
import { queueMessages } from '../messages/queue-messages.ts'
import { sealSecret, secretMark } from '../messages/sealed-secret.ts'
import { codeValidMs } from '../messages/senders/queries.ts'
import { countCode, listSenders, markProven, type SenderRef, storeCode, takeTry } from './queries.ts'

export type CodeNeeds = { baseUrl: string; secretKeys: () => Promise<Buffer[]> }

/** What its message is known by. */
export const codeSubject = 'Your code to confirm a sender'

const tries = 5
const mostADay = 5
const dayMs = 24 * 3_600_000

export async function mailCode(ctx: Ctx, needs: CodeNeeds, ref: SenderRef, email: string): Promise<void> {
  const { sent } = await countCode(ctx.db, email, dayOf(ctx.now))
  if (sent > mostADay)
    throw rateLimited({
      message: `${email} was sent ${mostADay} codes today; the next one can go tomorrow.`,
      retryAfterSeconds: Math.ceil((dayMs - (ctx.now.getTime() % dayMs)) / 1000),
    })
  const code = String(randomInt(100_000, 1_000_000))
  const keys = await needs.secretKeys()
  const [hash] = hashesOf(keys, ref, code)
  const [secretKey] = keys
  if (!hash || !secretKey) throw new Error('there is no secret key')
  await storeCode(ctx.db, ref, { hash, tries, at: ctx.now })
  const [queued] = await queueMessages(ctx.db, [await messageOf(ctx, needs, email, { code, secretKey })])
  if (queued instanceof Refusal) throw queued
}

/** One for each key that may have been the newest when the code was made. */
function hashesOf(secrets: Buffer[], { accountId, id }: SenderRef, code: string): Buffer[] {
  return tokenKeysOf(secrets, 'posthorn sender code').map((key) =>
    createHmac('sha256', key).update(`${accountId} ${id} ${code}`).digest(),
  )
}

/** Outside the transaction of the call: a try counts although the call is refused. */
export async function checkCode(ctx: Ctx, needs: CodeNeeds, ref: SenderRef, code: string): Promise<void> {
  const found = await takeTry(ctx.db, ref, new Date(ctx.now.getTime() - codeValidMs))
  const known = found?.code_hash
  const param = 'otp'
  if (!known) throw invalidParameter({ message: 'OTP code has expired', param })
  const isRight = hashesOf(await needs.secretKeys(), ref, code).some((hash) => timingSafeEqual(hash, known))
  if (!isRight) throw invalidParameter({ message: 'Invalid OTP code provided', param })
}

/** With the code that was just checked; another one may have been mailed meanwhile. */
export async function useCode(ctx: Ctx, needs: CodeNeeds, ref: SenderRef, code: string): Promise<void> {
  for (const hash of hashesOf(await needs.secretKeys(), ref, code))
    if ((await markProven(ctx.db, ref, hash, ctx.now)) > 0) return
  throw invalidParameter({ message: 'OTP code has expired', param: 'otp' })
}

type Secret = { code: string; secretKey: Buffer }

// The service's own message: what binds the key's messages does not bind it, and a test key's is mailed too, since
// what lands in the account's own sandbox would prove nothing.
async function messageOf(ctx: Ctx, needs: CodeNeeds, email: string, { code, secretKey }: Secret) {
  const [account] = await listAccounts(ctx.db, ctx.caller.accountId)
  const name = publicName(account?.name ?? '')
  const from = await serviceAddress(ctx, needs, email)
  const id = newUuid()
  const text = [
    `Somebody wants to send messages from ${email}${name ? ` for ${name}` : ''}.`,
    `If that was you, enter this code: ${secretMark}`,
    'It is valid for 24 hours. If it was not you, do nothing: without the code nobody can use your address.',
  ].join('\n\n')
  return {
    id,
    caller: { ...ctx.caller, mode: 'live' as const, senderDomains: null, verifiedSenderOnly: false },
    now: ctx.now,
    source: 'api' as const,
    stream: 'transactional' as const,
    from,
    recipient: { email },
    subject: codeSubject,
    parts: {
      from,
      to: [{ email }],
      text,
      headers: [['Auto-Submitted', 'auto-generated']] as [string, string][],
      sealed: sealSecret(secretKey, id, code),
    },
    attachments: [],
    tags: [],
    messageId: `<${id.replaceAll('-', '')}@${domainOf(from.email)}>`,
    track: { opens: false, clicks: false, asked: true as const },
    suppressed: 'refuse' as const,
  }
}

/**
 * The default sender, else one that is the account's, else this service at its public name, else the address itself,
 * where there is none: a domain that says so has mail refused that claims to be its own.
 */
async function serviceAddress(ctx: Ctx, { baseUrl }: CodeNeeds, email: string): Promise<Address> {
  const { default_sender } = await readSettings(ctx)
  const known = default_sender ?? (await provenAddress(ctx))
  if (known) return known
  const host = normalDomain(new URL(baseUrl).hostname)
  const isNamed = host !== undefined && /[a-z]$/.test(host)
  return { email: isNamed ? `no-reply@${host}` : email }
}

/** On a verified domain, whose signature receivers see, before one that only a code has proven. */
async function provenAddress({ db, caller }: Ctx): Promise<Address | undefined> {
  const senders = await listSenders(db, caller.accountId)
  const domains = (await findDomains(db, caller.accountId)).filter(({ status }) => status === 'verified')
  const onDomain = senders.find((one) => domains.some(({ domain }) => domain === domainOf(one.email)))
  if (onDomain) return { email: onDomain.email, name: onDomain.name }
  const [served] = domains
  if (served) return { email: `no-reply@${served.domain}` }
  const proven = senders.find(({ is_proven }) => is_proven)
  return proven && { email: proven.email, name: proven.name }
}
