// Whether the relay can be started with the operator's certificate, and whether its clients will trust it.
import { type Config, ConfigFault } from './config.ts'
import { endOf, readPair } from './tls-pair.ts'

type Files = Pick<Config, 'tlsCert' | 'tlsKey'>
type Found = { name: string; state: 'ok' | 'warning' | 'failed'; detail: string; mend?: string }

const soonMs = 3 * 86_400_000

/** Nothing where the service makes its own. */
export async function checkCertificate(files: Files, now: Date): Promise<Found[]> {
  if (files.tlsCert === undefined && files.tlsKey === undefined) return []
  const name = 'certificate'
  try {
    const end = endOf(await readPair(files))
    const day = end.toISOString().slice(0, 10)
    const mend = `renew ${files.tlsCert}; a running service takes the new one by itself`
    if (end <= now) return [{ name, state: 'failed', detail: `that of the relay ran out on ${day}`, mend }]
    const state = end.getTime() - now.getTime() < soonMs ? 'warning' : 'ok'
    const detail = `that of the relay is good until ${day}`
    return [{ name, state, detail, ...(state === 'warning' && { mend }) }]
  } catch (error) {
    if (error instanceof ConfigFault) return [{ name, state: 'failed', detail: error.message }]
    throw error
  }
}
