// Outreach: its operations, and the way to the mailboxes of customers.
import { openImap } from '../adapters/imap/imap.ts'
import { openMailboxSmtp } from '../adapters/mailbox-smtp/mailbox-smtp.ts'
import * as identity from '../features/outreach/identity/api.v3.ts'
import * as inbox from '../features/outreach/inbox/api.v3.ts'
import * as mailboxes from '../features/outreach/mailboxes/api.v3.ts'
import type { MailboxNeeds } from '../features/outreach/mailboxes/write-mailbox.ts'
import * as prospects from '../features/outreach/prospects/api.v3.ts'
import { outreachJobs } from '../features/outreach/sending/jobs.ts'
import * as sequences from '../features/outreach/sequences/api.v3.ts'
import * as moves from '../features/outreach/sequences/moves.api.v3.ts'
import { startWatching, type Watching } from '../features/outreach/watching/watch-mailboxes.ts'
import type { Db } from '../kernel/db.ts'
import type { AddressGuard } from '../kernel/guarded-lookup.ts'
import type { Job } from '../kernel/job.ts'
import type { Log } from '../kernel/log.ts'
import type { MailboxReader } from '../kernel/mailbox-ports.ts'
import type { Operation } from '../kernel/operation.ts'
import type { Config } from './config.ts'
import { openUnsubscribeKeys } from './link-keys.ts'
import { openSecretKeys } from './secret-key.ts'
import { resolveThrough } from './webhooks.ts'

export function outreachOperations(needs: MailboxNeeds): Operation[] {
  return [
    ...Object.values(sequences),
    ...Object.values(moves),
    ...Object.values(identity),
    ...Object.values(inbox),
    mailboxes.listMailboxesV3,
    mailboxes.createMailboxV3(needs),
    mailboxes.getMailboxV3,
    mailboxes.updateMailboxV3(needs),
    mailboxes.deleteMailboxV3,
    mailboxes.testMailboxV3(needs),
    ...Object.values(prospects),
  ]
}

type OutreachConfig = Pick<Config, 'dns' | 'outreachAllowPrivate' | 'secretKey' | 'dataDir'>

/** Where mailboxes may be. */
export function mailboxGuard({ dns, outreachAllowPrivate }: OutreachConfig): AddressGuard {
  return { allowPrivate: outreachAllowPrivate, ...(dns && { resolve: resolveThrough(dns) }) }
}

/** One reader for what is declared and what is watched. */
export function mailboxNeeds(config: OutreachConfig): MailboxNeeds & { reader: MailboxReader } {
  const guard = mailboxGuard(config)
  return {
    secretKeys: openSecretKeys(config),
    sender: openMailboxSmtp({ guard }),
    reader: openImap(guard),
    allowPrivate: guard.allowPrivate,
  }
}

type JobParts = { log: Log; now: () => Date; baseUrl: string }

export function outreachJobsFor(config: OutreachConfig, parts: JobParts): Job[] {
  return outreachJobs({ ...parts, ...mailboxNeeds(config), unsubscribeKeys: openUnsubscribeKeys(config) })
}

export function openWatching(
  config: OutreachConfig,
  parts: Omit<JobParts, 'baseUrl'> & { db: Db },
): Watching {
  return startWatching({ ...parts, ...mailboxNeeds(config) })
}
