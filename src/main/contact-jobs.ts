// The background work of contacts: imports and exports, and forgetting what is kept for a while only.
import { readRecipients } from '../features/campaigns/recipient-export/read-recipients.ts'
import { stripRemoved } from '../features/contacts/attributes/strip-values.ts'
import { deleteOldFiles } from '../features/contacts/export/queries.ts'
import { readContacts } from '../features/contacts/export/read-contacts.ts'
import { fileKeptMs } from '../features/contacts/export/read-file.ts'
import { workExports } from '../features/contacts/export/work-exports.ts'
import { fetchFiles } from '../features/contacts/import/fetch-files.ts'
import { type ImportNeeds, workImports } from '../features/contacts/import/work-imports.ts'
import { countBegun, foldCounts } from '../features/contacts/segments/count-segment.ts'
import { optinKeptMs } from '../features/transactional/double-optin/confirm-optin.ts'
import { deleteOldOptins } from '../features/transactional/double-optin/queries.ts'
import type { Job } from '../kernel/job.ts'

const before = (now: Date, ms: number) => new Date(now.getTime() - ms)

/** What files are written of, by the names of their processes. */
export const exportReaders = { EXPORTUSER: readContacts, EXPORTRECIPIENTS: readRecipients }

type Needs = Omit<ImportNeeds, 'db'> & { now: () => Date }

/** Who is told of the end of something may be slow to listen: the work of others does not wait for that. */
function tellingAside({ notify, log }: Needs): ImportNeeds['notify'] {
  return async (url, message) => {
    notify(url, message).catch((error: unknown) => {
      log.warn({ err: error, process: message.processId }, 'telling of the end of a process failed')
    })
  }
}

export function contactJobs(given: Needs): Job[] {
  const needs = { ...given, notify: tellingAside(given) }
  return [...countJobs, ...processJobs(needs), forgetting]
}

const countJobs: Job[] = [
  { name: 'contacts.count', everySeconds: 2, run: foldCounts },
  {
    name: 'contacts.begin_count',
    everySeconds: 1,
    claimsItsOwn: true,
    run: (db, _, stopping) => countBegun(db, stopping),
  },
  {
    name: 'contacts.strip',
    everySeconds: 2,
    claimsItsOwn: true,
    run: (db, _, stopping) => stripRemoved(db, stopping),
  },
]

const processJobs = (needs: Needs): Job[] => [
  {
    name: 'contacts.fetch',
    everySeconds: 1,
    claimsItsOwn: true,
    run: (db, _, stopping) => fetchFiles({ db, ...needs }, stopping),
  },
  {
    name: 'contacts.import',
    everySeconds: 1,
    claimsItsOwn: true,
    run: (db, now) => workImports({ db, ...needs }, now),
  },
  {
    name: 'contacts.export',
    everySeconds: 1,
    claimsItsOwn: true,
    run: (db, now) => workExports({ db, ...needs, readers: exportReaders }, now),
  },
]

const forgetting: Job = {
  name: 'contacts.forget',
  everySeconds: 3_600,
  run: async (db, now) => {
    await deleteOldFiles(db, before(now, fileKeptMs))
    await deleteOldOptins(db, before(now, optinKeptMs))
  },
}
