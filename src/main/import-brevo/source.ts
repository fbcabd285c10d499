// The provider's HTTP interface, read only. Waits as long as it asks for, and bears with it while it stumbles.
import { setTimeout as sleep } from 'node:timers/promises'
import { request } from 'undici'
import { CommandFault } from '../commands/print.ts'

export type Row = Record<string, unknown>
export type Source = { get(path: string, query?: Record<string, string | number>): Promise<Row> }
type Wait = (ms: number) => Promise<unknown>
type Options = { url: string; key: string; wait?: Wait; note?: (text: string) => void }

const timeouts = { headersTimeout: 30_000, bodyTimeout: 60_000 }
const mostTries = 12
const longestPauseMs = 60_000
const longestAskedMs = 3_600_000

export function openSource({ url, key, wait = sleep, note = () => {} }: Options): Source {
  const base = baseOf(url)
  return {
    async get(path, query = {}) {
      const asked = new URL(base + path)
      for (const [name, value] of Object.entries(query)) asked.searchParams.set(name, String(value))
      for (let tries = 1; ; tries++) {
        const answer = await ask(asked, key)
        if ('body' in answer) return answer.body
        if (tries >= mostTries)
          throw new CommandFault(`${asked.href}: ${answer.fault}; run it again to go on`)
        const pauseMs = answer.pauseMs ?? Math.min(longestPauseMs, 500 * 2 ** tries)
        note(`${asked.href}: ${answer.fault}; trying again in ${Math.ceil(pauseMs / 1000)} s`)
        await wait(pauseMs)
      }
    },
  }
}

/** With or without the version at the end. */
export function baseOf(url: string): string {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol))
    throw new CommandFault('--from must be an http or https address', 2)
  return `${url.replace(/\/+$/, '').replace(/\/v3$/, '')}/v3`
}

type Answered = { body: Row } | { fault: string; pauseMs?: number }

/** What can be tried again is told; what cannot ends the run. */
async function ask(url: URL, key: string): Promise<Answered> {
  const headers = { 'api-key': key, accept: 'application/json' }
  let status: number
  let text: string
  let pauseMs: number | undefined
  try {
    const response = await request(url, { headers, ...timeouts })
    status = response.statusCode
    pauseMs = askedPause(response.headers)
    text = await response.body.text()
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOTFOUND')
      throw new CommandFault(`there is no host ${url.hostname}; check --from`)
    return { fault: error instanceof Error ? error.message : String(error) }
  }
  const body = objectIn(text)
  if (status === 200 && body) return { body }
  if (status === 200 || status >= 500) return { fault: `it answered ${status}` }
  if (status === 429) return { fault: 'it asks for fewer requests', pauseMs }
  if (status === 401) throw new CommandFault('the provider refuses the key given with --key')
  throw new CommandFault(`${url.href} answered ${status}: ${String(body?.message ?? 'no reason was given')}`)
}

function objectIn(text: string): Row | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Row) : undefined
  } catch {
    return undefined
  }
}

type Headers = Record<string, string | string[] | undefined>

/** Seconds, as both headers have them. */
function askedPause(headers: Headers): number | undefined {
  const asked = [headers['retry-after'], headers['x-sib-ratelimit-reset']].map(Number)
  const seconds = asked.find((one) => Number.isFinite(one) && one >= 0)
  return seconds === undefined ? undefined : Math.min(longestAskedMs, seconds * 1000 + 100)
}
