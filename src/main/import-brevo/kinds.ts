// What is copied, in this order: what others hang on comes first, and the reason why an address is blocked before the
// contact who only says that it is.
import { listAttributes } from '../../features/contacts/attributes/queries.ts'
import { type Category, categories, types } from '../../features/contacts/attributes/values.ts'
import { createAttribute } from '../../features/contacts/attributes/write-attribute.ts'
import { insertFolder } from '../../features/contacts/folders/queries.ts'
import { readFolderName } from '../../features/contacts/folders/read-folder.ts'
import { createList } from '../../features/contacts/lists/write-list.ts'
import { insertSender, listSenders } from '../../features/senders/queries.ts'
import { insertBlockedDomain } from '../../features/suppressions/blocked-domain-queries.ts'
import { createTemplate } from '../../features/transactional/templates-v3/write-template.ts'
import { words } from '../../features/webhooks/events.ts'
import { mask } from '../../features/webhooks/read-body.ts'
import { createWebhook, refuseTarget } from '../../features/webhooks/write-webhook.ts'
import type { Ctx } from '../../kernel/ctx.ts'
import { normalDomain, normalEmail } from '../../kernel/email-address.ts'
import { Refusal } from '../../kernel/refusal.ts'
import { invalidParameter } from '../../kernel/refusals.ts'
import { type Copying, eachOnce, type Kind, oursOf, paged, rowOf, rowsOf, textOf, whole } from './kind.ts'
import { blocked, contacts } from './people.ts'
import type { Row } from './source.ts'

const byId = (row: Row) => String(row.id)
const byName = (row: Row) => textOf(row.name)
const mostBlockedDomains = 10_000

const folders: Kind = {
  ...paged('/contacts/folders', 'folders', 50),
  ...eachOnce('folders', {
    theirs: byId,
    make: async ({ ctx }, row) => {
      const name = readFolderName(textOf(row.name)).slice(0, 250)
      return Number((await insertFolder(ctx.db, ctx.caller.accountId, name, ctx.now)).id)
    },
  }),
}

const lists: Kind = {
  ...paged('/contacts/lists', 'lists', 50),
  ...eachOnce('lists', {
    theirs: byId,
    make: async (copying, row) => {
      const folderId = (await oursOf(copying, 'folders')).get(String(row.folderId))
      return createList(copying.ctx, { name: textOf(row.name).slice(0, 250), folderId })
    },
  }),
}

const attributes: Kind = {
  ...whole('/contacts/attributes', 'attributes'),
  ...eachOnce('attributes', { theirs: byName, make: makeAttribute }),
}

async function makeAttribute({ ctx }: Copying, row: Row): Promise<number> {
  const name = byName(row).toUpperCase()
  const category = categories.find((one) => one === row.category) as Category | undefined
  if (!category) throw invalidParameter({ message: `there is no category ${String(row.category)}` })
  const known = await listAttributes(ctx.db, ctx.caller.accountId)
  if (['EMAIL', 'SMS', 'EXT_ID'].includes(name) || known.some((one) => one.name === name)) return 0
  await createAttribute(
    ctx,
    { category, name },
    {
      type: category === 'category' ? 'category' : types.find((one) => one === row.type),
      enumeration: Array.isArray(row.enumeration)
        ? rowsOf(row.enumeration).map((one) => ({ value: Number(one.value), label: textOf(one.label) }))
        : undefined,
      multiCategoryOptions: Array.isArray(row.multiCategoryOptions)
        ? row.multiCategoryOptions.map(String)
        : undefined,
      value: textOf(row.calculatedValue) || undefined,
    },
  )
  return 0
}

const templates: Kind = {
  ...paged('/smtp/templates', 'templates', 50),
  ...eachOnce('templates', {
    theirs: byId,
    make: ({ ctx }, row) => {
      const { name, email } = rowOf(row.sender)
      const replyTo = textOf(row.replyTo)
      return createTemplate(ctx, {
        templateName: textOf(row.name),
        subject: textOf(row.subject),
        sender: { name: textOf(name) || undefined, email: textOf(email) },
        htmlContent: textOf(row.htmlContent),
        // The provider shows a placeholder where none was chosen.
        replyTo: normalEmail(replyTo) === undefined ? undefined : replyTo,
        toField: textOf(row.toField),
        tag: textOf(row.tag),
        isActive: row.isActive === true,
      })
    },
  }),
}

const senders: Kind = {
  ...whole('/senders', 'senders'),
  ...eachOnce('senders', {
    theirs: byId,
    // No code is mailed: a copy writes to nobody. It is asked for, or the domain verified, afterwards.
    make: async ({ ctx }, row) => {
      const email = normalEmail(textOf(row.email))
      if (email === undefined) throw invalidParameter({ message: 'it has no address' })
      const sender = { name: textOf(row.name).slice(0, 200) || email, email, at: ctx.now }
      const made = await insertSender(ctx.db, ctx.caller.accountId, sender)
      return Number(made?.id ?? (await senderLike(ctx, sender)))
    },
  }),
}

async function senderLike({ db, caller }: Ctx, { name, email }: { name: string; email: string }) {
  const all = await listSenders(db, caller.accountId)
  return all.find((one) => one.name === name && one.email.toLowerCase() === email.toLowerCase())?.id ?? 0
}

const blockedDomains: Kind = {
  ...whole('/smtp/blockedDomains', 'domains'),
  ...eachOnce('blockedDomains', {
    theirs: byName,
    make: async ({ ctx }, row) => {
      const domain = normalDomain(byName(row).toLowerCase())
      if (domain === undefined) throw invalidParameter({ message: 'it is not a domain' })
      const entry = { domain, at: ctx.now, most: mostBlockedDomains }
      if ((await insertBlockedDomain(ctx.db, ctx.caller.accountId, entry)) > 0) return 0
      throw invalidParameter({ message: `at most ${mostBlockedDomains} domains can be blocked` })
    },
  }),
}

const webhooks: Kind = {
  async read(source, _offset, { checkTarget }) {
    const found: Row[] = []
    for (const type of ['transactional', 'marketing']) {
      const rows = rowsOf((await source.get('/webhooks', { type })).webhooks)
      for (const row of rows) {
        const fault = await refuseTarget(checkTarget, textOf(row.url)).then(
          () => undefined,
          (error) => {
            if (error instanceof Refusal) return error
            throw error
          },
        )
        found.push({ ...row, type, fault })
      }
    }
    return { rows: found, total: found.length }
  },
  ...eachOnce('webhooks', {
    theirs: byId,
    make: async (copying, row) => {
      if (row.fault instanceof Refusal) throw row.fault
      return (await createWebhook(copying.webhooks, copying.ctx, webhookBody(copying, row))).id
    },
  }),
}

function webhookBody({ note }: Copying, row: Row) {
  const type = row.type === 'marketing' ? 'marketing' : 'transactional'
  const channel = row.channel === 'sms' ? 'sms' : 'email'
  const known = Object.keys(words[channel === 'sms' ? 'sms' : type])
  const events = Array.isArray(row.events) ? row.events.map(String) : []
  const unknown = events.filter((event) => !known.includes(event))
  if (unknown.length > 0) note(`webhooks ${byId(row)} is not told of ${unknown.join(', ')}: not known here`)
  const token = textOf(rowOf(row.auth).token)
  const headers = rowsOf(row.headers).map(({ key, value }) => ({ key: textOf(key), value: textOf(value) }))
  return {
    type,
    channel,
    url: textOf(row.url),
    description: textOf(row.description).slice(0, 1000),
    events: events.filter((event) => known.includes(event)),
    batched: row.batched === true,
    // A secret that is not shown cannot be copied.
    auth: token && token !== mask ? { type: 'bearer', token } : undefined,
    headers: headers.filter(({ value }) => value !== mask),
  }
}

export const kinds: Kind[] = [
  folders,
  lists,
  attributes,
  blocked,
  blockedDomains,
  contacts,
  templates,
  senders,
  webhooks,
]
