// Declaring and changing a mailbox. Both of its servers are logged in to: one that cannot be used yet is kept and says
// why, a change that would break one is refused.
import { type Static, Type } from 'typebox'
import type { Ctx } from '../../../kernel/ctx.ts'
import { normalEmail } from '../../../kernel/email-address.ts'
import type { MailboxReader, MailboxSender } from '../../../kernel/mailbox-ports.ts'
import { invalidParameter, missingParameter, notFound } from '../../../kernel/refusals.ts'
import { closed, words } from '../../../kernel/schema.ts'
import { SealFault } from '../../../kernel/seal.ts'
import { given, oneLine, optional } from '../../../kernel/v3/lenient.ts'
import { resolveNotice } from '../../accounts/notices/notices.ts'
import { stopOfMailbox } from '../enrollments/stop-queries.ts'
import { utcDay } from '../planning/windows.ts'
import { pauseStranded } from '../sequences/pause-stranded.ts'
import { openCredentials, type SecretKeys, sealCredentials, serverWith } from './credentials.ts'
import { pauseMailbox, rateSince } from './health.ts'
import {
  deleteMailbox,
  findMailbox,
  insertMailbox,
  type ListedMailbox,
  lockMailbox,
  setState,
  updateMailbox,
} from './queries.ts'
import { type ReadServer, readServer, refuseAddress, ServerGiven } from './read-servers.ts'
import { resolveUnread } from './unread.ts'

export type MailboxNeeds = {
  secretKeys: SecretKeys
  sender: MailboxSender
  reader?: MailboxReader
  /** Servers may be at private addresses. */
  allowPrivate: boolean
}

const fields = {
  name: optional(Type.String({ maxLength: 200, description: 'Whom messages are from' })),
  smtp: optional(ServerGiven),
  imap: optional(ServerGiven),
  dailyLimit: optional(Type.Integer({ description: 'Messages a day (UTC), 1 to 2000; 30 when absent' })),
  ramp: optional(
    Type.Boolean({
      description: 'Begin with ten a day and grow for three weeks from its first message; true when absent',
    }),
  ),
}

export const NewMailbox = closed({ email: Type.Optional(Type.String({ maxLength: 320 })), ...fields })
export const ChangedMailbox = closed({
  ...NewMailbox.properties,
  state: optional(words(['active', 'paused'], { description: 'active resumes a mailbox, paused stops it' })),
})

export type NewMailbox = Static<typeof NewMailbox>
export type ChangedMailbox = Static<typeof ChangedMailbox>

const usualLimit = 30
const mostLimit = 2_000

function readLimit(dailyLimit: number | null | undefined, known: number): number {
  const limit = dailyLimit ?? known
  if (limit >= 1 && limit <= mostLimit) return limit
  throw invalidParameter({ message: `dailyLimit must be between 1 and ${mostLimit}`, param: 'dailyLimit' })
}

type Servers = { smtp: ReadServer; imap: ReadServer }

function readNew(body: NewMailbox) {
  if (given(body.email) === undefined) throw missingParameter({ message: 'email is missing', param: 'email' })
  const email = normalEmail(body.email ?? '')
  if (email === undefined) throw invalidParameter({ message: 'email is not valid', param: 'email' })
  const servers: Servers = {
    smtp: readServer('smtp', body.smtp, { user: email }),
    imap: readServer('imap', body.imap, { user: email }),
  }
  return { email, servers, dailyLimit: readLimit(body.dailyLimit, usualLimit) }
}

/** Outside a transaction. The body, with what the servers said that do not work. */
export async function testNew(needs: MailboxNeeds, body: NewMailbox): Promise<TestedMailbox> {
  const { servers } = readNew(body)
  for (const kind of kinds) refuseAddress(kind, servers[kind].settings.host, needs)
  const faults = await testServers(needs, servers)
  const [fault] = kinds.flatMap((kind) => faultText(kind, faults) ?? [])
  return { ...body, fault }
}

export type TestedMailbox = NewMailbox & { fault?: string }

const kinds = ['smtp', 'imap'] as const

function faultText(kind: (typeof kinds)[number], { [kind]: fault }: Faults): string | undefined {
  return fault && `The ${kind.toUpperCase()} server does not work: ${fault}`
}

async function refuseFailing(needs: MailboxNeeds, servers: Partial<Servers>): Promise<void> {
  const found = await testServers(needs, servers)
  for (const kind of kinds) {
    const message = faultText(kind, found)
    if (message !== undefined) throw invalidParameter({ message, param: kind })
  }
}

type Faults = { smtp?: string; imap?: string }

async function testServers(
  { sender, reader }: MailboxNeeds,
  { smtp, imap }: Partial<Servers>,
): Promise<Faults> {
  const [atSmtp, atImap] = await Promise.all([
    smtp && sender.test(serverWith(smtp.settings, smtp.secret)),
    imap && reader?.test(serverWith(imap.settings, imap.secret)),
  ])
  return { smtp: atSmtp, imap: atImap }
}

export async function createMailbox(needs: MailboxNeeds, ctx: Ctx, body: TestedMailbox): Promise<number> {
  const { accountId } = ctx.caller
  const { email, servers, dailyLimit } = readNew(body)
  const secrets = { smtp: servers.smtp.secret, imap: servers.imap.secret }
  const made = {
    email,
    name: oneLine(body.name ?? ''),
    smtp: servers.smtp.settings,
    imap: servers.imap.settings,
    sealed: await sealCredentials(needs.secretKeys, { accountId, email }, secrets),
    dailyLimit,
    rampFrom: body.ramp === false ? null : ctx.now,
  }
  const inserted = await insertMailbox(ctx.db, accountId, made, ctx.now)
  if (!inserted)
    throw invalidParameter({ message: 'There is a mailbox of this address already', param: 'email' })
  const { id: mailboxId } = inserted
  if (body.fault !== undefined)
    await pauseMailbox(ctx.db, { accountId, mailboxId }, { reason: 'login', error: body.fault }, ctx.now)
  return Number(mailboxId)
}

export async function readMailbox(ctx: Ctx, id: number): Promise<ListedMailbox> {
  const days = { today: utcDay(ctx.now.getTime()), since: rateSince(ctx.now) }
  const found = await findMailbox(ctx.db, ctx.caller.accountId, id, days)
  if (found) return found
  throw notFound({ message: 'Mailbox ID does not exist', param: 'id' })
}

async function changedServers(
  { secretKeys }: MailboxNeeds,
  accountId: string,
  known: ListedMailbox,
  body: ChangedMailbox,
): Promise<Servers> {
  const owner = { accountId, email: known.email }
  // What no key opens any more has to be given again.
  const secrets = await openCredentials(secretKeys, owner, known.sealed).catch((error) => {
    if (error instanceof SealFault) return undefined
    throw error
  })
  const isUnopened = secrets === undefined
  return {
    smtp: readServer('smtp', body.smtp, { ...known.smtp, secret: secrets?.smtp, isUnopened }),
    imap: readServer('imap', body.imap, { ...known.imap, secret: secrets?.imap, isUnopened }),
  }
}

/** Outside a transaction: those of the servers that change. */
export async function testChange(
  needs: MailboxNeeds,
  ctx: Ctx,
  id: number,
  body: ChangedMailbox,
): Promise<void> {
  const known = await readMailbox(ctx, id)
  if (!body.smtp && !body.imap) return
  const { smtp, imap } = await changedServers(needs, ctx.caller.accountId, known, body)
  await refuseFailing(needs, { ...(body.smtp && { smtp }), ...(body.imap && { imap }) })
}

type Sealed = Pick<ListedMailbox, 'smtp' | 'imap' | 'sealed'>

/** What is not changed is not sealed anew either: whoever watches the mailbox would begin again. */
async function sealedServers(
  needs: MailboxNeeds,
  accountId: string,
  known: ListedMailbox,
  body: ChangedMailbox,
): Promise<Sealed> {
  if (!body.smtp && !body.imap) return known
  const { smtp, imap } = await changedServers(needs, accountId, known, body)
  const secrets = { smtp: smtp.secret, imap: imap.secret }
  const sealed = await sealCredentials(needs.secretKeys, { accountId, email: known.email }, secrets)
  return { smtp: smtp.settings, imap: imap.settings, sealed }
}

export async function changeMailbox(
  needs: MailboxNeeds,
  ctx: Ctx,
  id: number,
  body: ChangedMailbox,
): Promise<void> {
  const { accountId } = ctx.caller
  await lockMailbox(ctx.db, accountId, id)
  const known = await readMailbox(ctx, id)
  const { email } = known
  const wanted = given(body.email)
  if (wanted !== undefined && normalEmail(wanted) !== email)
    throw invalidParameter({ message: 'email cannot be changed: declare another mailbox', param: 'email' })
  const { smtp, imap, sealed } = await sealedServers(needs, accountId, known, body)
  await updateMailbox(ctx.db, accountId, known.id, {
    ...{ email, smtp, imap, sealed },
    name: body.name === undefined ? known.name : oneLine(body.name ?? ''),
    dailyLimit: readLimit(body.dailyLimit, known.daily_limit),
    rampFrom: rampOf(known, body, ctx.now),
    at: ctx.now,
  })
  // Its servers were logged in to just now.
  const isMended = known.paused_reason === 'login' && Boolean(body.smtp || body.imap)
  if (body.state) await changeState(ctx, known, body.state)
  else if (isMended) await changeState(ctx, known, 'active')
}

function rampOf({ ramp_from }: ListedMailbox, { ramp }: ChangedMailbox, now: Date): Date | null {
  if (ramp === undefined || ramp === null) return ramp_from
  return ramp ? (ramp_from ?? now) : null
}

async function changeState(
  ctx: Ctx,
  { id, email }: ListedMailbox,
  state: 'active' | 'paused',
): Promise<void> {
  const { accountId } = ctx.caller
  await setState(ctx.db, accountId, id, { state, at: ctx.now })
  if (state === 'active') await resolvePaused(ctx, email)
}

const resolvePaused = ({ db, caller, now }: Ctx, email: string) =>
  resolveNotice(db, { accountId: caller.accountId, code: 'mailbox_paused', subject: email }, now)

/** Threads that it began end with it; sequences go on with the others that they have, or rest. */
export async function removeMailbox(ctx: Ctx, id: number): Promise<void> {
  const { accountId } = ctx.caller
  const { id: mailboxId, email } = await readMailbox(ctx, id)
  // In this order: whoever settles a message of it has done so before, or finds it gone.
  await deleteMailbox(ctx.db, accountId, mailboxId)
  await stopOfMailbox(ctx.db, { accountId, mailboxId }, { reason: 'mailbox_deleted', at: ctx.now })
  await pauseStranded(ctx.db, { accountId, email }, ctx.now)
  await resolvePaused(ctx, email)
  await resolveUnread(ctx.db, { accountId, email }, ctx.now)
}

export async function testMailbox(needs: MailboxNeeds, ctx: Ctx, id: number): Promise<Faults> {
  const known = await readMailbox(ctx, id)
  return testServers(needs, await changedServers(needs, ctx.caller.accountId, known, {}))
}
