// What is held about a person, told; and all of it deleted, in one transaction.
import type { Ctx } from '../../kernel/ctx.ts'
import { newUuid } from '../../kernel/id.ts'
import type { ContactRef } from '../contacts/contacts/queries.ts'
import { dropFile, findInPages, holdAgainstExports, listFiles } from '../contacts/export/queries.ts'
import { takeTurn } from '../transactional/double-optin/queries.ts'
import { eraseLog, exportLog } from './action-log.ts'
import * as erase from './erase-queries.ts'
import * as tell from './export-queries.ts'
import { eraseMentions } from './mentions.ts'
import * as outreach from './outreach-queries.ts'
import { eraseOutreachReplies, exportOutreachReplies } from './outreach-reply-queries.ts'
import { type Person, personOf } from './person.ts'
import { present } from './present.ts'
import * as sms from './sms-queries.ts'
import type { Source } from './sources.ts'

/**
 * Whose address or number it was is not for us to say: a contact that left it may be the same person, or have been
 * mistyped. What is asked for goes no further than the address; this says whom else to ask for.
 */
export async function findMovedTo({ db, caller: { accountId } }: Ctx, asked: ContactRef) {
  const moved = () => {
    if ('email' in asked) return tell.findMoved(db, { accountId, email: asked.email })
    return 'sms' in asked ? tell.findMovedFrom(db, { accountId, phone: asked.sms }) : undefined
  }
  const found = await moved()
  return found ? { id: Number(found.id), email: found.email } : null
}

export async function exportPerson(ctx: Ctx, asked: ContactRef) {
  const who = await personOf(ctx, asked)
  const rows = async (asked: Promise<{ rows: Record<string, unknown>[] }>, prefix?: string) =>
    present((await asked).rows, prefix)
  const [contact = null] = await rows(tell.exportContact(ctx.db, who))
  return {
    email: who.email,
    phone: who.phones[0] ?? null,
    moved_to: await findMovedTo(ctx, asked),
    former_addresses: (await tell.exportFormer(ctx.db, who)).rows.map(presentFormer),
    exported_at: ctx.now.toISOString(),
    contact,
    history: await rows(tell.exportHistory(ctx.db, who)),
    consents: await rows(tell.exportConsents(ctx.db, who)),
    lists: await rows(tell.exportLists(ctx.db, who)),
    left_lists: await rows(tell.exportLeftLists(ctx.db, who)),
    messages: await rows(tell.exportMessages(ctx.db, who), 'msg'),
    suppression: (await rows(tell.exportSuppression(ctx.db, who)))[0] ?? null,
    soft_bounces: await rows(tell.exportSoftBounces(ctx.db, who)),
    blocked_senders: await rows(tell.exportBlockedSenders(ctx.db, who)),
    outreach_replies: await rows(exportOutreachReplies(ctx.db, who)),
    conversions: await rows(tell.exportConversions(ctx.db, who)),
    double_optins: await rows(tell.exportOptins(ctx.db, who)),
    action_log: present(await exportLog(ctx.db, who)),
    custom_events: await rows(tell.exportCustomEvents(ctx.db, who), 'evt'),
    automation_runs: await rows(tell.exportRuns(ctx.db, who), 'run'),
    senders: await rows(tell.exportSenders(ctx.db, who)),
    webhooks: await rows(tell.exportWebhooks(ctx.db, who), 'whd'),
    sms: await rows(sms.exportSms(ctx.db, who)),
    sms_optout: (await rows(sms.exportSmsOptout(ctx.db, who)))[0] ?? null,
    prospect: (await rows(outreach.exportProspect(ctx.db, who)))[0] ?? null,
    enrollments: await rows(outreach.exportEnrollments(ctx.db, who)),
    outreach_messages: await rows(outreach.exportOutreachMessages(ctx.db, who)),
  }
}

/** What hangs on it has columns too. */
function presentFormer({ email, ...kept }: Record<string, unknown>): Record<string, unknown> {
  const columns = Object.entries(kept).map(([name, row]) => [
    name,
    row === null ? null : present([row as Record<string, unknown>])[0],
  ])
  return { email, ...Object.fromEntries(columns) }
}

const pagesAtOnce = 50

/** The whole file of each export that names the person; gives how many. */
async function eraseExports(db: Ctx['db'], who: Person): Promise<number> {
  let dropped = 0
  for (const { id, pages } of await listFiles(db, who.accountId)) {
    const ref = { accountId: who.accountId, id }
    for (let from = 0; from < pages; from += pagesAtOnce) {
      if (!(await findInPages(db, ref, { from, to: from + pagesAtOnce }, who))) continue
      await dropFile(db, ref)
      dropped++
      break
    }
  }
  return dropped
}

// What is searched for in much comes first. The contact is among the last: its rows hold counters of the account, and
// whoever adds or deletes a contact waits for them; after it come the webhooks that its deletion calls. Rows that hang
// on others go before them.
const steps: [Source, (db: Ctx['db'], who: Person) => Promise<number>][] = [
  ['action_log', eraseLog],
  ['remembered_replies', erase.eraseReplies],
  ['imports', erase.eraseFromImports],
  ['imports_under_way', erase.eraseFromChunks],
  ['export_files', eraseExports],
  ['custom_events', erase.eraseCustomEvents],
  ['events', erase.eraseEvents],
  ['sms_events', sms.eraseSmsEvents],
  ['sms', sms.eraseSms],
  ['attachments', erase.eraseAttachments],
  ['queue', erase.eraseQueueRows],
  ['captured', erase.eraseCaptured],
  ['soft_bounces', erase.eraseSoftBounces],
  ['blocked_senders', erase.eraseBlockedSenders],
  ['outreach_replies', eraseOutreachReplies],
  ['conversions', erase.eraseFromConversions],
  ['double_optins', erase.eraseOptins],
  ['senders', erase.eraseSenders],
  ['enrollments', outreach.eraseEnrollments],
  ['outreach_messages', outreach.eraseOutreachMessages],
  ['prospect', outreach.eraseProspect],
  ['history', erase.eraseHistory],
  ['consents', erase.eraseConsents],
  ['lists', erase.eraseMemberships],
  ['left_lists', erase.eraseLeftLists],
  ['contact', erase.eraseContactRow],
  ['webhooks_under_way', erase.eraseQueuedWebhooks],
  ['webhooks', erase.eraseWebhooks],
]

export async function erasePerson(ctx: Ctx, asked: ContactRef): Promise<Record<Source, number>> {
  await erase.holdImports(ctx.db, ctx.caller.accountId)
  const who = await personOf(ctx, asked)
  const erased: Partial<Record<Source, number>> = {}
  // Whoever is just being asked to confirm a subscription has been asked then.
  for (const email of [...who.emails].sort()) await takeTurn(ctx.db, { accountId: who.accountId, email })
  await holdAgainstExports(ctx.db, who.accountId)
  erased.automation_runs = await erase.eraseRuns(ctx.db, who)
  await erase.lockMessages(ctx.db, who)
  await sms.lockSms(ctx.db, who)
  if (who.emails.length > 0) await eraseMentions(ctx.db, who)
  for (const [name, step] of steps) erased[name] = await step(ctx.db, who)
  erased.bodies = await erase.eraseBodies(ctx.db, who)
  erased.messages = await erase.eraseMessages(ctx.db, who)
  await erase.eraseUnsuppression(ctx.db, who)
  erased.sms_optout = await sms.keepPhoneHashes(ctx.db, who, ctx.now)
  erased.suppression = await erase.keepHashes(ctx.db, who, { newId: newUuid, at: ctx.now })
  return erased as Record<Source, number>
}
