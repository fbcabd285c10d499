// Every background job and how often it runs.
import { type GuardedRequests, openGuardedClient } from '../adapters/guarded-http/guarded-http.ts'
import { auditJobs } from '../features/accounts/audit/forget-lines.ts'
import { campaignJobs } from '../features/campaigns/sending/jobs.ts'
import type { ImportNeeds } from '../features/contacts/import/work-imports.ts'
import type { FindUnsubscribeKeys } from '../features/contacts/unsubscribe/tokens.ts'
import type { DomainNeeds } from '../features/domains/look-at-domain.ts'
import { removeUpstream } from '../features/domains/remove-upstream.ts'
import { runAutomations } from '../features/events/automations/run-steps.ts'
import { foldCounts } from '../features/messages/counts/fold.ts'
import { deleteOldFeedback } from '../features/messages/feedback-queries.ts'
import { contentJobs } from '../features/messages/forget-contents.ts'
import { unsuppressUpstream } from '../features/suppressions/unsuppress-upstream.ts'
import { webhookJobs } from '../features/webhooks/jobs.ts'
import { deleteExpiredIdempotencyKeys, deleteIdleRates } from '../gates/queries.ts'
import type { Job } from '../kernel/job.ts'
import type { Log } from '../kernel/log.ts'
import type { Transport } from '../kernel/ports.ts'
import { accountJobs } from './account-jobs.ts'
import { contactJobs } from './contact-jobs.ts'
import { domainJob } from './domain-operations.ts'

const daysMs = 86_400_000
// Providers give up repeating a notification long before.
const feedbackKeptMs = 14 * daysMs

export type JobNeeds = {
  transport: Transport
  log: Log
  baseUrl: string
  unsubscribeKeys: FindUnsubscribeKeys
  now: () => Date
  /** Something was put into the queue. */
  wake: () => void
  domains?: DomainNeeds
  /** How long the action log and the contents of messages are kept; for ever when absent. */
  auditDays?: number
  contentDays?: number
  files?: ImportFiles
}

/** How imports reach the files and addresses that callers name. */
type ImportFiles = Pick<ImportNeeds, 'fetchFile' | 'notify'>

export const jobsFor = ({
  transport,
  log,
  baseUrl,
  unsubscribeKeys,
  now,
  wake,
  domains,
  auditDays = 0,
  contentDays = 0,
  files = filesThrough(openGuardedClient({ allowPrivate: false })),
}: JobNeeds): Job[] => [
  ...forgetting,
  { name: 'counts.fold', everySeconds: 2, run: foldCounts },
  ...accountJobs,
  ...auditJobs(auditDays),
  ...contentJobs(contentDays),
  ...upstreamJobs({ log, transport }),
  ...contactJobs({ log, now, ...files }),
  {
    name: 'automations.run',
    everySeconds: 1,
    claimsItsOwn: true,
    run: (db, _, stopping) =>
      runAutomations({ db, log, baseUrl, unsubscribeKeys, now, ...attaching(files) }, stopping),
  },
  ...campaignJobs({ log, now, wake, ...attaching(files) }),
  ...(domains ? [domainJob(domains)] : []),
  ...webhookJobs,
]

// After a long stop everything may be due at once: more than one statement has time for.
const portion = 5_000

const forgetting: Job[] = [
  {
    name: 'gates.forget',
    everySeconds: 600,
    run: async (db) => {
      await deleteIdleRates(db)
    },
  },
  {
    name: 'idempotency.forget',
    everySeconds: 600,
    claimsItsOwn: true,
    run: async (db, before, stopping) => {
      const due = { before, limit: portion }
      while (!stopping.aborted && (await deleteExpiredIdempotencyKeys(db, due)) >= portion);
    },
  },
  {
    name: 'feedback.forget',
    everySeconds: 3_600,
    claimsItsOwn: true,
    run: async (db, at, stopping) => {
      const due = { before: new Date(at.getTime() - feedbackKeptMs), limit: portion }
      while (!stopping.aborted && (await deleteOldFeedback(db, due)) >= portion);
    },
  },
]

/** What is asked of the upstream after somebody changed it here. */
const upstreamJobs = (needs: Pick<JobNeeds, 'log' | 'transport'>): Job[] => [
  {
    name: 'suppressions.upstream',
    everySeconds: 30,
    claimsItsOwn: true,
    run: (db, _, stopping) => unsuppressUpstream({ db, ...needs }, stopping),
  },
  {
    name: 'domains.remove',
    everySeconds: 30,
    claimsItsOwn: true,
    run: (db, _, stopping) => removeUpstream({ db, ...needs }, stopping),
  },
]

const attaching = ({ fetchFile }: ImportFiles) => ({
  fetchAttachment: async (url: string) => (await fetchFile(url)).body,
})

const largestFile = 20 * 1024 * 1024

/** Who asked to be told may be reached by another client than files are fetched with. */
export const filesThrough = (client: GuardedRequests, telling = client): ImportFiles => ({
  fetchFile: async (url) => {
    const { status, headers, body } = await client.request({ url, maxBytes: largestFile, timeoutMs: 60_000 })
    if (status !== 200) throw new Error(`it answered ${status}`)
    return { body, contentType: headers['content-type'] ?? '' }
  },
  notify: async (url, message) => {
    const headers = { 'content-type': 'application/json' }
    const body = JSON.stringify(message)
    await telling.request({ url, method: 'POST', headers, body, maxBytes: 65_536, timeoutMs: 10_000 })
  },
})
