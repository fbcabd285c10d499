// A request that succeeds, for each operation: what the contract tests send.
import { type Operation, operationId } from '../../src/kernel/operation.ts'
import type { App } from '../app.ts'
import { until } from '../until.ts'
import { campaignExamples, campaignPrepared } from './campaign-examples.ts'
import { contactExamples, contactPrepared } from './contact-examples.ts'
import { domainExamples, domainPrepared } from './domain-examples.ts'
import { eventExamples, eventPrepared } from './event-examples.ts'
import { inboxExamples, inboxPrepared } from './inbox-examples.ts'
import { mediaExamples, mediaPrepared } from './media-examples.ts'
import { outreachExamples, outreachPrepared } from './outreach-examples.ts'
import { senderExamples, senderPrepared } from './sender-examples.ts'
import { statisticsExamples, statisticsPrepared } from './statistics-examples.ts'
import { webhookExamples, webhookPrepared } from './webhook-examples.ts'

export type Example = { path: string; body?: unknown }

const message = { from: 'shop@example.com', to: 'anna@example.com', subject: 'Hello', text: 'Hello.' }

const v3Message = {
  sender: { email: 'shop@example.com' },
  to: [{ email: 'anna@example.com' }],
  subject: 'Hello',
  textContent: 'Hello.',
}
const sms = { sender: 'MyShop', recipient: '+33612345678', content: 'Hello.' }
const template = {
  templateName: 'Welcome',
  subject: 'Welcome',
  sender: { email: 'shop@example.com' },
  htmlContent: '<p>Hello {{ params.name }}</p>',
}

const examples: Record<string, Partial<Example>> = {
  ...contactExamples,
  ...statisticsExamples,
  ...eventExamples,
  ...campaignExamples,
  ...senderExamples,
  ...domainExamples,
  ...webhookExamples,
  ...mediaExamples,
  ...inboxExamples,
  ...outreachExamples,
  'email.send': { body: message },
  'message.validate': { body: message },
  'settings.update': { body: { click_tracking: true } },
  'suppression.create': { body: { email: 'gone@example.com' } },
  'v3.email.send': { body: v3Message },
  'v3.sms.send': { body: sms },
  'v3.sms.send_async': { body: sms },
  'v3.email.log': { path: '/v3/smtp/emails?email=anna@example.com' },
  'v3.template.create': { body: template },
  'v3.template.get': { path: '/v3/smtp/templates/1' },
  'v3.template.update': { path: '/v3/smtp/templates/1', body: { subject: 'Hello' } },
  'v3.template.delete': { path: '/v3/smtp/templates/1' },
  'v3.template.preview': { body: { templateId: 1 } },
  'v3.blocked_domain.create': { body: { domain: 'blocked.example' } },
  'v3.blocked_domain.delete': { path: '/v3/smtp/blockedDomains/blocked.example' },
  'v3.template.test': { path: '/v3/smtp/templates/1/sendTest', body: { emailTo: ['anna@example.com'] } },
}

async function templatePath(app: App, key: string): Promise<string> {
  const { body } = await app.call('POST', '/v3/smtp/templates', { key, body: template })
  return `/v3/smtp/templates/${body.id}`
}

async function scheduledId(app: App, key: string): Promise<string> {
  const scheduledAt = new Date(Date.now() + 3_600_000).toISOString()
  const { body } = await app.call('POST', '/v3/smtp/email', { key, body: { ...v3Message, scheduledAt } })
  return encodeURIComponent(body.messageId)
}

/** What must exist first, made by other operations of the interface. */
const prepared: Record<string, (app: App, key: string) => Promise<Partial<Example>>> = {
  ...contactPrepared,
  ...statisticsPrepared,
  ...eventPrepared,
  ...campaignPrepared,
  ...senderPrepared,
  ...domainPrepared,
  ...webhookPrepared,
  ...mediaPrepared,
  ...inboxPrepared,
  ...outreachPrepared,
  'message.get': async (app, key) => {
    const { body } = await app.call('POST', '/api/v1/transactional/send', { key, body: message })
    return { path: `/api/v1/messages/${body.id}` }
  },
  'sandbox.raw': async (app, key) => {
    await app.call('POST', '/api/v1/transactional/send', { key, body: message })
    const found = await until(async () => {
      const { body } = await app.call('GET', '/api/v1/sandbox/messages', { key })
      return body.data[0]
    }, 'a captured message')
    return { path: `/api/v1/sandbox/messages/${found.id}/raw` }
  },
  'suppression.delete': async (app, key) => {
    await app.call('POST', '/api/v1/suppressions', { key, body: { email: 'gone@example.com' } })
    return { path: '/api/v1/suppressions/gone%40example.com' }
  },
  'email.cancel': async (app, key) => {
    const scheduled_at = new Date(Date.now() + 3_600_000).toISOString()
    const { body } = await app.call('POST', '/api/v1/transactional/send', {
      key,
      body: { ...message, scheduled_at },
    })
    return { path: `/api/v1/messages/${body.id}/cancel` }
  },
  'v3.email.cancel': async (app, key) => ({ path: `/v3/smtp/email/${await scheduledId(app, key)}` }),
  'v3.email.scheduled': async (app, key) => ({ path: `/v3/smtp/emailStatus/${await scheduledId(app, key)}` }),
  'v3.email.get': async (app, key) => {
    await app.call('POST', '/v3/smtp/email', { key, body: v3Message })
    const { body } = await app.call('GET', '/v3/smtp/emails?email=anna@example.com', { key })
    return { path: `/v3/smtp/emails/${body.transactionalEmails[0].uuid}` }
  },
  'v3.template.get': async (app, key) => ({ path: await templatePath(app, key) }),
  'v3.template.update': async (app, key) => ({ path: await templatePath(app, key) }),
  'v3.template.delete': async (app, key) => ({ path: await templatePath(app, key) }),
  'v3.template.test': async (app, key) => ({ path: `${await templatePath(app, key)}/sendTest` }),
  'v3.template.preview': async (app, key) => {
    const { body } = await app.call('POST', '/v3/smtp/templates', { key, body: template })
    return { body: { templateId: body.id } }
  },
  'v3.blocked_domain.delete': async (app, key) => {
    await app.call('POST', '/v3/smtp/blockedDomains', { key, body: { domain: 'blocked.example' } })
    return {}
  },
  'v3.blocked_contact.delete': async (app, key) => {
    await app.call('POST', '/api/v1/suppressions', { key, body: { email: 'gone@example.com' } })
    return { path: '/v3/smtp/blockedContacts/gone%40example.com' }
  },
}

/** The example together with all that it needs, made with an unrestricted key of the account. */
export async function workingExampleOf(op: Operation, app: App, key: string): Promise<Example> {
  return { ...exampleOf(op), ...(await prepared[operationId(op)]?.(app, key)) }
}

/** Operations without a path parameter or a required field need no entry. */
export function exampleOf(op: Operation): Example {
  const known = examples[operationId(op)]
  return { path: known?.path ?? op.path, body: known?.body }
}
