// A sending domain at Scaleway.
import type { Identity, IdentityRecord } from '../../kernel/ports.ts'
import { type Api, bodyOf, complaintOf, type HttpAnswer, isFine } from './api.ts'
import type { Fields } from './reading.ts'

/** The list of domains is one for the whole project: several accounts of ours may share one. */
export async function readIdentity(api: Api, projectId: string, domain: string): Promise<Identity> {
  const found = await findDomain(api, projectId, domain)
  const known = found ? await lookedAt(api, found) : await createDomain(api, projectId, domain)
  const status = textOf(known.status)
  return {
    records: recordsOf(domain, known.records),
    ready: status === 'checked',
    says: `Scaleway says of the domain ${domain}: ${status || 'nothing'}.`,
    ...(!found && { registered: true }),
  }
}

/** One that is revoked, or not there, is fine. */
export async function removeIdentity(api: Api, projectId: string, domain: string): Promise<void> {
  const found = await findDomain(api, projectId, domain)
  if (found) await fine(api.post(`domains/${textOf(found.id)}/revoke`, '{}'))
}

async function findDomain(api: Api, projectId: string, domain: string): Promise<Fields | undefined> {
  const query = { project_id: projectId, name: domain, page_size: '100' }
  const { domains } = await fine(api.get('domains', query))
  const all: Fields[] = Array.isArray(domains) ? domains : []
  // One that was given up may be registered again.
  return all.find(({ name, status }) => name === domain && status !== 'revoked')
}

/** Scaleway looks by itself now and then; asked, it looks now. That it cannot is no reason to stop. */
async function lookedAt(api: Api, found: Fields): Promise<Fields> {
  if (found.status === 'checked') return found
  const checked = await api.post(`domains/${textOf(found.id)}/check`, '{}').catch(() => undefined)
  return checked && isFine(checked) ? { ...found, ...bodyOf(checked) } : found
}

function createDomain(api: Api, projectId: string, domain: string): Promise<Fields> {
  const body = { project_id: projectId, domain_name: domain, accept_tos: true, autoconfig: false }
  return fine(api.post('domains', JSON.stringify(body)))
}

async function fine(asked: Promise<HttpAnswer>): Promise<Fields> {
  const answer = await asked
  if (isFine(answer)) return bodyOf(answer)
  throw new Error(`Scaleway refuses (${complaintOf(answer).words})`)
}

const textOf = (value: unknown) => (typeof value === 'string' ? value : '')

const kinds = [
  ['dkim', 'dkim', 'TXT', true],
  ['spf', 'spf', 'TXT', true],
  ['dmarc', 'dmarc', 'TXT', true],
  ['mx', 'return_path', 'MX', false],
] as const

function recordsOf(domain: string, given: unknown): IdentityRecord[] {
  const records = (given ?? {}) as Record<string, Fields | undefined>
  return kinds.flatMap(([field, role, type, required]) => {
    const { name, value } = records[field] ?? {}
    if (!textOf(value)) return []
    return {
      role,
      type,
      required,
      host: hostOf(textOf(name), domain),
      value: textOf(value).replace(/\.$/, ''),
    }
  })
}

/** Names come with a final dot, or without the domain. */
function hostOf(name: string, domain: string): string {
  const plain = name.replace(/\.$/, '').toLowerCase()
  if (plain === '' || plain === '@' || plain === domain) return domain
  return plain.endsWith(`.${domain}`) ? plain : `${plain}.${domain}`
}
