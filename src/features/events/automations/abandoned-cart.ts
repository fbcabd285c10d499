// A cart that was left: its run is started, or the one under way told what is in the cart now.
import { type Static, Type } from 'typebox'
import type { Ctx } from '../../../kernel/ctx.ts'
import { domainOf, normalEmail } from '../../../kernel/email-address.ts'
import { webAddress } from '../../../kernel/patterns.ts'
import { missingParameter } from '../../../kernel/refusals.ts'
import { closed } from '../../../kernel/schema.ts'
import { readSettings } from '../../accounts/settings/settings.ts'
import { refuseForeignSender } from '../../accounts/usage/spend-sending.ts'
import { findContact } from '../../contacts/contacts/queries.ts'
import { suppressedRefusal } from '../../messages/queue-messages.ts'
import { recipientInvalid, recipientSuppressed } from '../../messages/refusals.ts'
import { findSuppressed } from '../../suppressions/queries.ts'
import { resubscribing } from '../../suppressions/still-standing.ts'
import { senderOf, settingTheSender } from '../../transactional/prepare-send.ts'
import { findTemplate } from '../../transactional/template-queries.ts'
import { findCartAutomation, type Step } from './queries.ts'
import { startCart } from './run-queries.ts'
import { scenarioOffsets } from './scenario.ts'
import { StepBody } from './write-automation.ts'

const Address = Type.String({ format: 'uri', pattern: webAddress, maxLength: 2000 })
const Text = Type.String({ maxLength: 1000 })
const Amount = Type.Union([Type.Number(), Type.String({ maxLength: 100 })], {
  description: 'Shown as it is given',
})

const Item = closed({
  name: Text,
  quantity: Type.Optional(Type.Number({ minimum: 0 })),
  price: Type.Optional(Amount),
  image_url: Type.Optional(Address),
  url: Type.Optional(Address),
})

export const CartBody = closed({
  email: Type.String({ maxLength: 320 }),
  cart: closed({
    id: Type.Union([
      Type.String({ minLength: 1, maxLength: 255 }),
      Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER }),
    ]),
    url: Type.Optional(Address),
    currency: Type.Optional(Type.String({ maxLength: 10 })),
    total: Type.Optional(Amount),
    items: Type.Optional(Type.Array(Item, { maxItems: 200 })),
  }),
  delay_minutes: Type.Optional({
    ...StepBody.properties.delay_minutes,
    description: 'Instead of that of the first step; may be a fraction',
  }),
})

export type CartBody = Static<typeof CartBody>

export async function leaveCart(ctx: Ctx, body: CartBody): Promise<{ id: string; schedule: Date[] }> {
  const { accountId, keyId, mode } = ctx.caller
  const email = readRecipient(body.email)
  const contactId = await findReachable(ctx, email)
  const automation = await findCartAutomation(ctx.db, accountId)
  await (automation ? refuseForeignSteps(ctx, automation.steps) : refuseNoSender(ctx))
  const first = body.delay_minutes
  const offsets = automation ? shifted(automation.offsets, first) : scenarioOffsets(first)
  return startCart(ctx.db, {
    accountId,
    automationId: automation?.id ?? null,
    contactId,
    email,
    cartId: String(body.cart.id),
    context: JSON.stringify({ cart: body.cart }),
    schedule: offsets.map((minutes) => new Date(ctx.now.getTime() + minutes * 60_000)),
    isDelayGiven: first !== undefined,
    keyId,
    mode,
    at: ctx.now,
  })
}

export function readRecipient(given: string): string {
  const email = normalEmail(given)
  if (email === undefined)
    throw recipientInvalid({ message: 'email must be an email address.', param: 'email' })
  return email
}

/** The number of the contact, where there is one. */
async function findReachable({ db, caller }: Ctx, email: string): Promise<string | null> {
  const [hit] = await findSuppressed(db, [{ accountId: caller.accountId, email }])
  if (hit) throw suppressedRefusal(email, hit.reason, 'email')
  const contact = await findContact(db, caller.accountId, { email })
  if (contact?.status !== 'unsubscribed') return contact?.id ?? null
  throw recipientSuppressed({
    message: `The contact ${email} is unsubscribed: automations do not write to it.`,
    param: 'email',
    ...resubscribing(email),
  })
}

async function refuseNoSender(ctx: Ctx): Promise<void> {
  const { default_sender } = await readSettings(ctx)
  if (!default_sender)
    throw missingParameter({
      message: 'The account has no default sender, which the reminders are written as.',
      hint: 'Set default_sender, or declare an automation for abandoned carts that has a sender.',
      action: settingTheSender,
    })
  refuseForeignSender(ctx.caller, domainOf(default_sender.email))
}

/** The steps are sent by the key of this call, which may be allowed less than the one that declared them. */
async function refuseForeignSteps(ctx: Ctx, steps: Step[]): Promise<void> {
  const { accountId, senderDomains } = ctx.caller
  if (senderDomains === null) return
  for (const { from, template_id } of steps) {
    const template =
      template_id === undefined ? undefined : await findTemplate(ctx.db, accountId, template_id)
    const sender = await senderOf(ctx, { to: '', from }, template)
    refuseForeignSender(ctx.caller, domainOf(sender.email))
  }
}

/** The first step at another time, and the others as long after it as before. */
function shifted(offsets: number[], first: number | undefined): number[] {
  const by = first === undefined ? 0 : first - (offsets[0] ?? 0)
  return offsets.map((minutes) => minutes + by)
}
