// What a new account does, in this order, until its first message has arrived.
import type { Ctx } from '../../kernel/ctx.ts'
import { domainOf } from '../../kernel/email-address.ts'
import { readSettings } from '../accounts/settings/settings.ts'
import { obstacleTo } from '../domains/declarable.ts'
import type { DomainState } from '../domains/domain-states.ts'
import { findSent } from './queries.ts'
import { type Request, requestOf } from './requests.ts'
import type { Surroundings } from './set-up.ts'

export type Step = {
  step: number
  code: string
  done: boolean
  message: string
  action: Request
  proof: Request
}

const placeholder = 'mail.example.com'

/** Nothing once a message has arrived. */
export async function firstSteps(ctx: Ctx, around: Surroundings, domains: DomainState[]): Promise<Step[]> {
  const { is_sent, is_delivered } = await findSent(ctx.db, ctx.caller.accountId)
  // An SMTP server takes a message and tells no more of it.
  const hasArrived = is_delivered || (is_sent && around.transportKind().startsWith('smtp'))
  if (hasArrived) return []
  const { default_sender: given } = await readSettings(ctx)
  // An address on a domain that nobody can declare is not to be sent from: the way leads to one of their own.
  const default_sender = given && !obstacleTo(domainOf(given.email)) ? given : null
  const best = domains.find(({ status }) => status === 'verified') ?? domains.at(-1)
  const domain = best?.domain ?? (default_sender ? domainOf(default_sender.email) : placeholder)
  const steps = [...domainSteps(ctx, domain, best), ...sendingSteps(ctx, domain, { default_sender, is_sent })]
  return steps.map((one, i) => ({ step: i + 1, ...one }))
}

type Unnumbered = Omit<Step, 'step'>

function domainSteps(ctx: Ctx, domain: string, state: DomainState | undefined): Unnumbered[] {
  const dns = requestOf(ctx, 'domain.dns', { in: { domain } })
  const isPublished = state?.records.every(({ required, known }) => !required || known === 'ok') ?? false
  const own = domain === placeholder ? ` In place of ${placeholder} name a domain that is yours.` : ''
  return [
    {
      code: 'declare_domain',
      done: state !== undefined,
      message: `Declare the domain that you send from.${own}`,
      action: requestOf(ctx, 'domain.declare', { body: { domain } }),
      proof: dns,
    },
    {
      code: 'publish_records',
      done: isPublished,
      message: 'Publish the records that this request shows, where the DNS of the domain is kept.',
      action: dns,
      proof: requestOf(ctx, 'domain.verify', { body: { domain } }),
    },
    {
      code: 'verify_domain',
      done: state?.status === 'verified',
      message: 'Have the records read from public DNS.',
      action: requestOf(ctx, 'domain.verify', { body: { domain } }),
      proof: dns,
    },
  ]
}

const tester = 'success@simulator.posthorn.test'

type Sending = { default_sender: { email: string } | null; is_sent: boolean }

function sendingSteps(ctx: Ctx, domain: string, { default_sender, is_sent }: Sending): Unnumbered[] {
  const email = default_sender?.email ?? `hello@${domain}`
  const messages = requestOf(ctx, 'message.list', { query: { to: tester } })
  return [
    {
      code: 'set_default_sender',
      done: default_sender !== null,
      message: 'Say which address messages come from when they name none.',
      action: requestOf(ctx, 'settings.update', { body: { default_sender: { email } } }),
      proof: requestOf(ctx, 'settings.get'),
    },
    {
      code: 'send_test',
      done: is_sent,
      message: 'Send a message to the simulator, which takes it as a mailbox would. Then one to yourself.',
      action: requestOf(ctx, 'email.send', {
        body: { from: email, to: tester, subject: 'First message', text: 'It works.' },
      }),
      proof: messages,
    },
    {
      code: 'see_it_delivered',
      done: false,
      message: 'See that its status is delivered.',
      action: messages,
      proof: requestOf(ctx, 'deliverability.diagnose'),
    },
  ]
}
