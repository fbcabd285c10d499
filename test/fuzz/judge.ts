// What is wrong with an answer, whatever was asked.
import type { Reply, Silence } from './gun.ts'
import { mark } from './odd-values.ts'
import type { Shot } from './shot.ts'

const slowMs = 5_000
// A key is made for a new domain, which takes its time on a busy machine; the process goes on meanwhile.
const slowWithKeyMs = 20_000

export const isSlow = (shot: Shot, got: Reply | Silence) =>
  got.ms > (/\/domains/.test(shot.target) ? slowWithKeyMs : slowMs)

export function faultIn(shot: Shot, got: Reply | Silence): string | undefined {
  if (isSlow(shot, got)) return `took ${Math.round(got.ms)} ms`
  if ('silent' in got) return shot.isCut ? undefined : got.silent
  const text = got.body.toString()
  if (got.status >= 500) return `${got.status} ${text.slice(0, 300)}`
  if (/\n\s+at .+:\d+:\d+|node_modules|syntax error at or near|\bpg_\w+\(/.test(text) && got.status >= 400)
    return `tells of the inside: ${text.slice(0, 300)}`
  const type = got.headers.get('content-type') ?? ''
  if (type.includes('html')) return text.includes(mark) ? 'reflects what was sent into HTML' : undefined
  return got.status >= 400 && shot.method !== 'HEAD' ? faultInError(shot.target, got, text) : undefined
}

function faultInError(target: string, { status, headers }: Reply, text: string): string | undefined {
  if (!headers.get('content-type')?.startsWith('application/json'))
    return `${status} that is not JSON: ${text.slice(0, 100)}`
  const body = parsed(text)
  // What is no HTTP at all has no path to tell the namespace by.
  const isV3 = /^\/v3([/?]|$)/.test(target) && !(headers.get('connection') === 'close' && body?.error)
  const said = isV3 ? body : body?.error
  const isWhole = typeof said?.code === 'string' && typeof said.message === 'string' && said.message !== ''
  if (!isWhole) return `${status} in another form: ${text.slice(0, 200)}`
  if (body?.error && body.error.status !== status) return `${status} that says ${body.error.status}`
  if (!headers.get('x-request-id')) return `${status} without a request id`
  return undefined
}

type ErrorBody = {
  error?: { code?: string; message?: string; status?: number }
  code?: string
  message?: string
}

function parsed(text: string): ErrorBody | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
