// Whether every step of an automation could be sent now: its template, its subject, its sender.
import { collector } from '../../../kernel/collect.ts'
import type { Ctx } from '../../../kernel/ctx.ts'
import { domainOf } from '../../../kernel/email-address.ts'
import { Refusal } from '../../../kernel/refusal.ts'
import { invalidParameter } from '../../../kernel/refusals.ts'
import { refuseForeignSender } from '../../accounts/usage/spend-sending.ts'
import { contentMissing } from '../../messages/refusals.ts'
import { senderOf, usedTemplate } from '../../transactional/prepare-send.ts'
import { refuseBadTemplate, refuseHiddenFooter } from '../../transactional/v3/render.ts'
import type { Step } from './queries.ts'

/** The faults of all steps, each with its place. */
export async function faultsOfSteps(ctx: Ctx, steps: Step[]): Promise<Refusal[]> {
  const found: Refusal[] = []
  for (const [i, step] of steps.entries())
    for (const refused of await faultsOfStep(ctx, step)) found.push(placed(refused, `steps[${i}]`))
  return found
}

const hint = 'Give html or template_id, and a subject unless the template has one.'

async function faultsOfStep(ctx: Ctx, step: Step): Promise<Refusal[]> {
  const { subject, html, template_id, from } = step
  const { refusals, read, step: look } = collector()
  read(() => refuseWrongContent(step))
  const template = await look(() => usedTemplate(ctx, { to: '', template_id }))
  // What a template that cannot be used would have brought cannot be judged.
  const isLost = template_id !== undefined && template === undefined
  if (!isLost) read(() => refuseNoSubject(subject ?? template?.subject))
  if (subject !== undefined) await look(() => refuseBadTemplate(subject, 'text', 'subject'))
  await look(async () => {
    if (html !== undefined) await refuseBadTemplate(html, 'html', 'html')
    await refuseHiddenFooter(html ?? template?.html ?? '', html === undefined ? 'template_id' : 'html')
  })
  await look(async () => {
    if (isLost && from === undefined) return
    const sender = await senderOf(ctx, { to: '', from }, template)
    refuseForeignSender(ctx.caller, domainOf(sender.email))
  })
  return refusals
}

function refuseWrongContent({ html, template_id }: Step): void {
  if (html !== undefined && template_id !== undefined)
    throw invalidParameter({ message: 'template_id cannot be given with html.', param: 'template_id' })
  if (html === undefined && template_id === undefined)
    throw contentMissing({ message: 'The step has neither html nor template_id.', param: 'html', hint })
}

function refuseNoSubject(subject = ''): void {
  if (subject.trim() === '')
    throw contentMissing({ message: 'The step has no subject.', param: 'subject', hint })
}

function placed({ declaration, message, told }: Refusal, place: string): Refusal {
  const param = told.param === undefined ? place : `${place}.${told.param}`
  return new Refusal(declaration, { ...told, message: `${place}: ${message}`, param })
}
