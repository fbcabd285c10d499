import type { Ctx } from '../../kernel/ctx.ts'
import type { Refusal } from '../../kernel/refusal.ts'
import { findBlocking } from './find-blocking.ts'
import { findWarnings } from './find-warnings.ts'
import type { SendDraft } from './send-request.ts'
import type { DnsNeeds } from './sender-warnings.ts'

// Headers, boundaries and the growth of text by its encoding.
const overheadBytes = 1_500

export async function validateSend(ctx: Ctx, needs: DnsNeeds, given: SendDraft) {
  const looked = await findBlocking(ctx, given)
  const { body, rendered } = looked
  const attached = (body.attachments ?? []).reduce((sum, { content }) => sum + content.length, 0)
  const written = Buffer.byteLength(rendered?.html ?? '') + Buffer.byteLength(rendered?.text ?? '')
  const size = overheadBytes + written + attached
  const warnings = await findWarnings(ctx, needs, looked, size - attached)
  const blocking = looked.blocking.map(itemOf)
  const verdict = blocking.length > 0 ? 'blocked' : warnings.length > 0 ? 'warnings' : 'ok'
  return {
    verdict: verdict as 'ok' | 'warnings' | 'blocked',
    blocking,
    warnings,
    rendered: rendered
      ? { subject: rendered.subject, html: rendered.html ?? null, text: rendered.text ?? null }
      : null,
    estimated_size_bytes: size,
  }
}

function itemOf({ code, message, told, declaration }: Refusal) {
  return { code, message, param: told.param, hint: told.hint ?? declaration.hint, action: told.action }
}
