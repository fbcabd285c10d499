// What is wrong with the fields of a send, each on its own.
import { isBase64 } from '../../kernel/base64.ts'
import type { Ctx } from '../../kernel/ctx.ts'
import type { Fault } from '../../kernel/refusal.ts'
import { faultOfHeader, faultOfRepeated, faultOfSize, repeatedHeaders } from '../messages/mime/safe.ts'
import { metadataLength, metadataLimits } from '../messages/model.ts'
import type { SendDraft } from './send-request.ts'

const furthestMs = 30 * 24 * 3_600_000
const pastAllowedMs = 5 * 60_000

/** What the schema cannot say. */
export function faultsIn(ctx: Ctx, body: SendDraft): Fault[] {
  return [...headerFaults(body), ...timeFaults(ctx, body), ...attachmentFaults(body), ...metadataFaults(body)]
}

// The schema bounds the texts; for the names it has no bound that its library would hold them to.
function metadataFaults({ metadata = {} }: SendDraft): Fault[] {
  const { name: longest, inAll } = metadataLimits
  if (metadataLength(metadata) > inAll) {
    const message = `metadata must have at most ${inAll} characters, names and texts together.`
    return [{ code: 'invalid_parameter', message, param: 'metadata' }]
  }
  return Object.keys(metadata).flatMap((name) => {
    if (name.length <= longest) return []
    const param = `metadata.${name.slice(0, longest)}…`
    return {
      code: 'invalid_parameter',
      message: `Names in metadata have at most ${longest} characters.`,
      param,
    }
  })
}

function headerFaults({ headers = {} }: SendDraft): Fault[] {
  const tooMuch = faultOfSize(Object.entries(headers))
  if (tooMuch !== undefined) return [{ code: 'invalid_parameter', message: tooMuch, param: 'headers' }]
  const repeated = new Set(repeatedHeaders(Object.keys(headers)))
  return Object.entries(headers).flatMap(([name, value]) => {
    const message = faultOfHeader(name, value) ?? (repeated.has(name) ? faultOfRepeated(name) : undefined)
    if (message === undefined) return []
    return { code: 'invalid_parameter', message, param: `headers.${name.slice(0, 64)}` }
  })
}

function timeFaults({ now }: Ctx, { scheduled_at }: SendDraft): Fault[] {
  if (scheduled_at === undefined) return []
  const ahead = new Date(scheduled_at).getTime() - now.getTime()
  if (ahead >= -pastAllowedMs && ahead <= furthestMs) return []
  const message = `scheduled_at must lie within the next 30 days.`
  return [{ code: 'invalid_parameter', message, param: 'scheduled_at' }]
}

function attachmentFaults({ attachments = [] }: SendDraft): Fault[] {
  return attachments.flatMap(({ content }, i) => {
    if (isBase64(content.replaceAll(/\s/g, ''), { padded: true })) return []
    const param = `attachments[${i}].content`
    return { code: 'invalid_parameter', message: `${param} must be base64.`, param }
  })
}
