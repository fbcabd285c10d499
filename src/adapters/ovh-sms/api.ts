// Requests as OVH wants them signed: https://help.ovhcloud.com/csm/en-api-getting-started-ovhcloud-api
import { createHash } from 'node:crypto'

export type HttpAnswer = { status: number; headers: Record<string, string>; body: Buffer }

/** A failure that carries `reached: false` says that nothing was sent. */
export type HttpRequest = (options: {
  url: string
  method: 'GET' | 'POST'
  headers: Record<string, string>
  body?: string
  maxBytes: number
  timeoutMs: number
}) => Promise<HttpAnswer>

export type ApiOptions = {
  /** Such as https://eu.api.ovh.com/1.0. */
  endpoint: string
  applicationKey: string
  applicationSecret: string
  consumerKey: string
  now: () => Date
  request: HttpRequest
}

export type Api = {
  get(path: string): Promise<HttpAnswer>
  post(path: string, body: object): Promise<HttpAnswer>
}

const limits = { maxBytes: 1_000_000, timeoutMs: 30_000 }

export function openApi(options: ApiOptions): Api {
  const { endpoint, request } = options
  const offset = clockOffset(options)
  const call = async (method: 'GET' | 'POST', path: string, body: string) => {
    const url = `${endpoint}${path}`
    const timestamp = String(Math.round(options.now().getTime() / 1000) + (await offset()))
    const headers = signed(options, { method, url, body, timestamp })
    return request({ url, method, headers, ...(body !== '' && { body }), ...limits })
  }
  return {
    get: (path) => call('GET', path, ''),
    post: (path, body) => call('POST', path, JSON.stringify(body)),
  }
}

type Signed = { method: string; url: string; body: string; timestamp: string }

function signed({ applicationKey, applicationSecret, consumerKey }: ApiOptions, one: Signed) {
  const parts = [applicationSecret, consumerKey, one.method, one.url, one.body, one.timestamp]
  return {
    accept: 'application/json',
    'content-type': 'application/json',
    'x-ovh-application': applicationKey,
    'x-ovh-consumer': consumerKey,
    'x-ovh-timestamp': one.timestamp,
    'x-ovh-signature': `$1$${createHash('sha1').update(parts.join('+')).digest('hex')}`,
  }
}

/** OVH refuses what its clock finds too old or too new: how far it is ahead of ours, asked once. */
function clockOffset({ endpoint, now, request }: ApiOptions): () => Promise<number> {
  let known: number | undefined
  return async () => {
    if (known !== undefined) return known
    const headers = { accept: 'application/json' }
    const { status, body } = await request({
      url: `${endpoint}/auth/time`,
      method: 'GET',
      headers,
      ...limits,
    }).catch((error) => {
      // Nothing has been sent yet, whatever became of this.
      throw Object.assign(error instanceof Error ? error : new Error(String(error)), { reached: false })
    })
    const theirs = Number(body.toString())
    if (status !== 200 || !Number.isSafeInteger(theirs)) return 0
    known = theirs - Math.round(now().getTime() / 1000)
    return known
  }
}
