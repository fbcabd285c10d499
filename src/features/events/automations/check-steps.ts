// Whether every step of an automation could be sent now: its template, its subject, its sender.
import type { Ctx } from '../../../kernel/ctx.ts'
import { domainOf } from '../../../kernel/email-address.ts'
import { Refusal } from '../../../kernel/refusal.ts'
import { invalidParameter } from '../../../kernel/refusals.ts'
import { refuseForeignSender } from '../../accounts/usage/spend-sending.ts'
import { contentMissing } from '../../messages/refusals.ts'
import { senderOf, usedTemplate } from '../../transactional/prepare-send.ts'
import { refuseBadTemplate, refuseHiddenFooter } from '../../transactional/v3/render.ts'
import type { Step } from './queries.ts'

/** Tells the faults of all steps, each with its place. */
export async function refuseBadSteps(ctx: Ctx, steps: Step[]): Promise<void> {
  const found: Refusal[] = []
  for (const [i, step] of steps.entries()) {
    const refused = await refusalOf(() => refuseBadStep(ctx, step))
    if (refused) found.push(placed(refused, `steps[${i}]`))
  }
  const [first] = found
  if (!first) return
  const details = found.map(({ code, message, told }) => ({ code, message, param: told.param }))
  throw new Refusal(first.declaration, { ...first.told, details })
}

const hint = 'Give html or template_id, and a subject unless the template has one.'

async function refuseBadStep(ctx: Ctx, step: Step): Promise<void> {
  const { subject, html, template_id, from } = step
  if (html !== undefined && template_id !== undefined)
    throw invalidParameter({ message: 'template_id cannot be given with html.', param: 'template_id' })
  if (html === undefined && template_id === undefined)
    throw contentMissing({ message: 'The step has neither html nor template_id.', param: 'html', hint })
  const template = await usedTemplate(ctx, { to: '', template_id })
  if ((subject ?? template?.subject ?? '').trim() === '')
    throw contentMissing({ message: 'The step has no subject.', param: 'subject', hint })
  if (subject !== undefined) await refuseBadTemplate(subject, 'text', 'subject')
  if (html !== undefined) await refuseBadTemplate(html, 'html', 'html')
  await refuseHiddenFooter(html ?? template?.html ?? '', html === undefined ? 'template_id' : 'html')
  const sender = await senderOf(ctx, { to: '', from }, template)
  refuseForeignSender(ctx.caller, domainOf(sender.email))
}

async function refusalOf(work: () => Promise<void>): Promise<Refusal | undefined> {
  try {
    await work()
    return undefined
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}

function placed({ declaration, message, told }: Refusal, place: string): Refusal {
  const param = told.param === undefined ? place : `${place}.${told.param}`
  return new Refusal(declaration, { ...told, message: `${place}: ${message}`, param })
}
