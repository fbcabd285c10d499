// https://www.scaleway.com/en/developers/api/transactional-email/ (v1alpha1)
import type { Fields } from './reading.ts'

export type HttpAnswer = { status: number; headers: Record<string, string>; body: Buffer }

/** A failure that carries `reached: false` says that nothing was sent. */
export type HttpRequest = (options: {
  url: string
  method: 'GET' | 'POST' | 'DELETE'
  headers: Record<string, string>
  body?: string
  maxBytes: number
  timeoutMs: number
}) => Promise<HttpAnswer>

export type ApiOptions = { region: string; secretKey: string; endpoint?: string; request: HttpRequest }

export type Api = {
  get(path: string, query: Record<string, string>): Promise<HttpAnswer>
  post(path: string, body: string): Promise<HttpAnswer>
  delete(path: string): Promise<HttpAnswer>
}

const maxBytes = 2_000_000
const timeoutMs = 30_000

export function openApi({
  region,
  secretKey,
  endpoint = 'https://api.scaleway.com',
  request,
}: ApiOptions): Api {
  const base = `${endpoint}/transactional-email/v1alpha1/regions/${encodeURIComponent(region)}`
  const headers = { 'x-auth-token': secretKey, accept: 'application/json' }
  const limits = { maxBytes, timeoutMs }
  return {
    get: (path, query) =>
      request({ url: `${base}/${path}?${new URLSearchParams(query)}`, method: 'GET', headers, ...limits }),
    post: (path, body) => {
      const typed = { ...headers, 'content-type': 'application/json' }
      return request({ url: `${base}/${path}`, method: 'POST', headers: typed, body, ...limits })
    },
    delete: (path) => request({ url: `${base}/${path}`, method: 'DELETE', headers, ...limits }),
  }
}

export const isFine = ({ status }: HttpAnswer): boolean => status >= 200 && status < 300

/** The answer's JSON object; an empty one when it is anything else. */
export function bodyOf({ body }: HttpAnswer): Fields {
  try {
    const value: unknown = JSON.parse(body.toString())
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {}
  } catch {
    return {}
  }
}

/** What Scaleway says about an error: its type, its sentence, the arguments that it does not like. */
export function complaintOf(answer: HttpAnswer): { type: string; words: string } {
  const { type, message, details } = bodyOf(answer)
  const named = (Array.isArray(details) ? details : []).map(
    (each) =>
      `${each?.argument_name ?? each?.quotaName ?? each?.resource ?? ''} ${each?.help_message ?? each?.reason ?? ''}`,
  )
  const said = [type, message, ...named].filter((each) => typeof each === 'string' && each.trim() !== '')
  const words = [`HTTP ${answer.status}`, ...said].join(', ').replace(/\s+/g, ' ').slice(0, 500)
  return { type: typeof type === 'string' ? type : '', words }
}
