import type { Ctx } from '../../kernel/ctx.ts'
import type { Refusal } from '../../kernel/refusal.ts'
import { findBlocking, type Looked } from './find-blocking.ts'
import { findWarnings } from './find-warnings.ts'
import type { SendDraft } from './send-request.ts'
import type { DnsNeeds } from './sender-warnings.ts'
import type { FetchAttachment } from './v3/attachments.ts'

export type ValidateNeeds = DnsNeeds & { fetchAttachment: FetchAttachment }

// Headers, boundaries and the growth of text by its encoding.
const overheadBytes = 1_500

export async function validateSend(ctx: Ctx, needs: ValidateNeeds, given: SendDraft) {
  const looked = await findBlocking(ctx, needs.fetchAttachment, given)
  const { rendered } = looked
  const attached = attachedBytes(looked)
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

/** In base64, as they travel. */
function attachedBytes({ body, files }: Looked): number {
  const ofTemplate = [...files.values()].map(({ content }) => Math.ceil(content.length / 3) * 4)
  const own = (body.attachments ?? []).map(({ content }) => content.length)
  return [...ofTemplate, ...own].reduce((sum, bytes) => sum + bytes, 0)
}

function itemOf({ code, message, told, declaration }: Refusal) {
  return { code, message, param: told.param, hint: told.hint ?? declaration.hint, action: told.action }
}
