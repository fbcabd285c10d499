// Something of every kind for one account, made through the interface, with a word in it that nobody else has.
import { randomBytes } from 'node:crypto'
import { after, type TestContext } from 'node:test'
import { mailServer, serverAt } from '../../src/features/outreach/fixtures/outreach.ts'
import { row, text } from '../../src/kernel/row.ts'
import { sql } from '../../src/kernel/sql.ts'
import type { App } from '../app.ts'
import { onePixel } from '../contract/media-examples.ts'
import { welcomingImap } from '../stand-ins/welcoming-imap.ts'
import { until } from '../until.ts'

export type Household = {
  accountId: string
  key: string
  /** Stands in all its data. */
  word: string
  /** Identifiers by name, as paths, queries and bodies take them. */
  ids: Record<string, string | number>
}

export type Making = Pick<Household, 'accountId' | 'word' | 'ids'> & {
  app: App
  post: Post
  put: Post
  get: Get
}
// biome-ignore lint/suspicious/noExplicitAny: replies are read for their identifiers
type Post = (path: string, body?: object) => Promise<any>
// biome-ignore lint/suspicious/noExplicitAny: as above
type Get = (path: string) => Promise<any>

/** What one area of the service adds; each may use the identifiers of those before it. */
type Furnisher = (making: Making) => Promise<Household['ids']>

const Made = row<{ id: string }>({ id: text })

const later = () => new Date(Date.now() + 2 * 86_400_000).toISOString()

const people: Furnisher = async ({ word, post }) => {
  const email = `anna-${word}@example.com`
  const { id: folderId } = await post('/v3/contacts/folders', { name: `folder ${word}` })
  const { id: listId } = await post('/v3/contacts/lists', { name: `list ${word}`, folderId })
  await post('/v3/contacts/attributes/category/COLOUR', { enumeration: [{ value: 1, label: word }] })
  const { id: contactId } = await post('/v3/contacts', {
    email,
    ext_id: `ext-${word}`,
    listIds: [listId],
    attributes: { FIRSTNAME: word },
    consentSource: `fair ${word}`,
    consentDate: '2026-01-01T00:00:00Z',
  })
  await post(`/v3/contacts/${contactId}/tags`, { tags: [word] })
  const condition = { attribute: 'FIRSTNAME', operator: 'eq', value: word }
  const { id: segmentId } = await post('/v3/segments', { name: `segment ${word}`, ...condition })
  const [otherEmail, otherExtId] = [`imported-${word}@example.com`, `other-${word}`]
  const row = { email: otherEmail, ext_id: otherExtId }
  const { processId } = await post('/v3/contacts/import', { jsonBody: [row], listIds: [listId] })
  const filter = { customContactFilter: { actionForContacts: 'allContacts' } }
  const { processId: exportId } = await post('/v3/contacts/export', filter)
  await post('/api/v1/suppressions', { email: `gone-${word}@example.com` })
  const extId = `ext-${word}`
  const persons = { email, extId, contactId, otherEmail, otherExtId, tag: word }
  return { ...persons, folderId, listId, segmentId, processId, exportId }
}

const mail: Furnisher = async ({ word, post, get, ids }) => {
  const sender = { name: `Shop ${word}`, email: `shop-${word}@example.com` }
  const { id: senderId } = await post('/v3/senders', sender)
  const html = `<p>${word}</p><a href="https://shop.example/${word}">Shop</a>`
  const template = {
    templateName: `template ${word}`,
    subject: word,
    sender,
    htmlContent: html,
    isActive: true,
  }
  const { id: templateId } = await post('/v3/smtp/templates', template)
  const { id: messageId } = await post('/api/v1/transactional/send', {
    from: sender.email,
    to: ids.email,
    subject: word,
    html,
    tag: word,
    attachments: [{ filename: `${word}.txt`, content: Buffer.from(word).toString('base64') }],
  })
  const batchId = `${randomBytes(16)
    .toString('hex')
    .replace(/^(.{8})(.{4}).(.{3}).(.{3})/, '$1-$2-4$3-8$4-')}`
  const content = { sender, to: [{ email: ids.email }], subject: word, textContent: word }
  const waiting = await post('/v3/smtp/email', { ...content, scheduledAt: later(), batchId })
  const { email: senderEmail } = sender
  const known = { senderId, templateId, messageId, batchId, senderEmail, messageHeader: waiting.messageId }
  return { ...known, ...(await logged(get, String(ids.email))), suppressed: `gone-${word}@example.com` }
}

async function logged(get: Parameters<Furnisher>[0]['get'], email: string) {
  const log = await until(
    async () => (await get(`/v3/smtp/emails?email=${email}`)).transactionalEmails[0],
    'the message in the log',
  )
  const captured = await until(
    async () => (await get('/api/v1/sandbox/messages')).data[0],
    'a captured message',
  )
  return { uuid: log.uuid, capturedId: captured.id }
}

const campaigns: Furnisher = async ({ word, post, ids }) => {
  const campaign = {
    name: `campaign ${word}`,
    subject: word,
    sender: { email: ids.senderEmail, name: word },
    htmlContent: `<p>${word}</p><a href="{{ unsubscribe }}">Unsubscribe</a>`,
    recipients: { listIds: [ids.listId] },
    tag: word,
  }
  const { id: sentId } = await post('/v3/emailCampaigns', campaign)
  const { id: campaignId } = await post('/v3/emailCampaigns', { ...campaign, scheduledAt: later() })
  const { id: draftId } = await post('/v3/emailCampaigns', campaign)
  await post(`/v3/emailCampaigns/${sentId}/sendNow`, { confirm: true })
  await post('/api/v1/campaigns/conversion', { email: ids.email, amount: 5, external_id: `order-${word}` })
  return { campaignId, draftId, sentId, externalId: `order-${word}` }
}

const rest: Furnisher = async ({ word, post, ids }) => {
  const domain = `mail.${word}.example`
  const otherDomain = `news.${word}.example`
  for (const each of [domain, otherDomain]) await post('/api/v1/domains', { domain: each })
  const hook = { url: `https://hooks.${word}.example/`, events: ['delivered'], description: word }
  const { id: webhookId } = await post('/v3/webhooks', hook)
  const { id: deliveryId } = await post(`/v3/webhooks/${webhookId}/test`, {})
  const step = { delay_minutes: 2_000, subject: word, html: word, from: ids.senderEmail }
  const automation = { name: word, trigger_type: 'custom_event', event_name: `event_${word}`, steps: [step] }
  const { id: automationId } = await post('/api/v1/automations', automation)
  const event = {
    event_name: `event_${word}`,
    identifiers: { email_id: ids.email },
    event_properties: { note: word },
  }
  await post('/v3/events', event)
  const optin = { templateName: 'Confirm', subject: word, htmlContent: '<a href="{{ doubleoptin }}">Yes</a>' }
  const sender = { email: ids.senderEmail }
  const { id: optinTemplateId } = await post('/v3/smtp/templates', {
    ...optin,
    sender,
    tag: 'optin',
    isActive: true,
  })
  await post('/v3/contacts/doubleOptinConfirmation', {
    email: `new-${word}@example.com`,
    includeListIds: [ids.listId],
    templateId: optinTemplateId,
    redirectionUrl: `https://shop.example/${word}`,
  })
  return {
    domain,
    otherDomain,
    webhookId,
    deliveryId,
    automationId,
    optinTemplateId,
    eventName: `event_${word}`,
  }
}

const images: Furnisher = async ({ word, post }) => {
  const { uuid: imageUuid } = await post('/v3/media', { name: word, content: onePixel })
  const blockedDomain = `blocked.${word}.example`
  await post('/v3/smtp/blockedDomains', { domain: blockedDomain })
  await post('/v3/transactionalSMS/sms', {
    sender: 'Shop',
    recipient: '+33612345678',
    content: word,
    tag: word,
  })
  return { imageUuid, blockedDomain }
}

const outreach: Furnisher = async ({ app, accountId, word, post, put }) => {
  const base = '/v3/outreach'
  await put('/api/v1/settings', { outreach_enabled: true })
  await put(`${base}/identity`, { companyName: word, postalAddress: word })
  const { port } = await mailServer({ after } as TestContext)
  const servers = { smtp: serverAt(port), imap: serverAt(await welcomingImap()) }
  const { id: mailboxId } = await post(`${base}/mailboxes`, { email: `me@${word}.example`, ...servers })
  const prospectEmail = `prospect-${word}@example.com`
  const { id: prospectId } = await post(`${base}/prospects`, { email: prospectEmail, company: word })
  const steps = [{ subject: word, text: word }]
  const { id: sequenceId } = await post(`${base}/campaigns`, { name: word, mailboxIds: [mailboxId], steps })
  await post(`${base}/campaigns/${sequenceId}/enroll`, { prospectIds: [prospectId] })
  const { id: replyId } = await app.pools.db.one(
    Made,
    sql`
    insert into outreach_replies (account_id, kind, mailbox_id, sequence_id, prospect_id, fingerprint, sender, subject,
                                  body_text, received_at, confidence, reason, created_at)
    values (${accountId}, 'reply', ${mailboxId}, ${sequenceId}, ${prospectId}, ${Buffer.from(word)}, ${prospectEmail},
            ${word}, ${word}, now(), 0, 'made', now())
    returning id`,
  )
  return { mailboxId, prospectId, prospectEmail, sequenceId, replyId }
}

/** An area of its own adds one function here, and what it makes is guarded by every test about tenants. */
const furnishers: Furnisher[] = [people, mail, campaigns, rest, images, outreach]

export async function furnish(
  app: App,
  { accountId, key }: { accountId: string; key: string },
): Promise<Household> {
  const word = `quillback${randomBytes(4).toString('hex')}`
  const ask = async (method: string, path: string, body?: object) => {
    const reply = await app.call(method, path, { key, body })
    if (reply.status >= 300) throw new Error(`${method} ${path}: ${reply.status} ${reply.text}`)
    return reply.body
  }
  const post: Post = (path, body) => ask('POST', path, body)
  const put: Post = (path, body) => ask('PUT', path, body)
  const get: Get = (path) => ask('GET', path)
  const ids: Household['ids'] = {}
  for (const furnisher of furnishers)
    Object.assign(ids, await furnisher({ app, accountId, word, ids, post, put, get }))
  return { accountId, key, word, ids }
}
