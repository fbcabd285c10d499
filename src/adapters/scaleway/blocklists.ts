import { type Api, bodyOf, complaintOf, type HttpAnswer, isFine } from './api.ts'
import type { Fields } from './reading.ts'

const pageSize = 100
const mostPages = 50

/** Scaleway lists addresses by sending domain, so every domain of the project is looked at. */
export async function unblock(api: Api, projectId: string, address: string): Promise<void> {
  for (const domain of await listAll(api, 'domains', { project_id: projectId })) {
    const query = { domain_id: String(domain.id), email: address }
    for (const entry of await listAll(api, 'blocklists', query)) {
      // The filter of the interface is not said to be exact.
      if (String(entry.email).toLowerCase() !== address.toLowerCase()) continue
      const answer = await api.delete(`blocklists/${encodeURIComponent(String(entry.id))}`)
      if (!isFine(answer) && !isTolerable(answer)) throw refused('an entry could not be deleted', answer)
    }
  }
}

/** Gone already, or more than the five that Scaleway lets go in a day: the entry then ends by itself, or later. */
function isTolerable(answer: HttpAnswer): boolean {
  return answer.status === 404 || answer.status === 429 || complaintOf(answer).type === 'quotas_exceeded'
}

async function listAll(
  api: Api,
  what: 'domains' | 'blocklists',
  query: Record<string, string>,
): Promise<Fields[]> {
  const found: Fields[] = []
  for (let page = 1; page <= mostPages; page++) {
    const answer = await api.get(what, { ...query, page: String(page), page_size: String(pageSize) })
    if (!isFine(answer)) throw refused(`its ${what} could not be listed`, answer)
    const list = bodyOf(answer)[what]
    if (!Array.isArray(list)) break
    found.push(...list.filter((each) => typeof each?.id === 'string'))
    if (list.length < pageSize) break
  }
  return found
}

const refused = (what: string, answer: HttpAnswer) =>
  new Error(`Scaleway: ${what} (${complaintOf(answer).words})`)
