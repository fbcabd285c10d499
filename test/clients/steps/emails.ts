// Transactional email: templates, sending, logs, statistics, what is blocked.
import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { until } from '../../until.ts'
import type { Step } from './step.ts'

const sender = { email: 'shop@example.com', name: 'Shop' }
const template = {
  templateName: 'Receipt',
  subject: 'Your order {{ params.order }}',
  sender,
  htmlContent: '<p>Order {{ params.order }} is on its way.</p>',
  replyTo: 'help@example.com',
  toField: '{{ contact.FIRSTNAME }}',
  tag: 'receipts',
  isActive: true,
}

const templates: Step[] = [
  {
    does: 'transactionalEmails.createSmtpTemplate',
    body: () => template,
    status: 201,
    gives: ({ id }, s) => {
      s.templateId = id
    },
  },
  {
    does: 'transactionalEmails.getSmtpTemplates',
    args: () => ({ templateStatus: true, limit: 50, offset: 0, sort: 'desc' }),
    gives: ({ templates }, s) => assert.ok(templates.some(({ id }: { id: number }) => id === s.templateId)),
  },
  {
    does: 'transactionalEmails.updateSmtpTemplate',
    args: ({ templateId }) => ({ templateId }),
    body: () => ({ subject: 'Order {{ params.order }}' }),
    status: 204,
  },
  {
    does: 'transactionalEmails.getSmtpTemplate',
    args: ({ templateId }) => ({ templateId }),
    gives: ({ subject, isActive }) =>
      assert.deepEqual([subject, isActive], ['Order {{ params.order }}', true]),
  },
  {
    does: 'transactionalEmails.postPreviewSmtpEmailTemplates',
    body: ({ templateId }) => ({ templateId, params: { order: '7' } }),
    gives: ({ subject, html }) => {
      assert.equal(subject, 'Order 7')
      assert.match(html, /Order 7 is on its way/)
    },
  },
  {
    does: 'transactionalEmails.sendTestTemplate',
    args: ({ templateId }) => ({ templateId }),
    body: () => ({ emailTo: ['ann@example.com'] }),
    wrapped: true,
    status: 204,
  },
]

const sending: Step[] = [
  {
    does: 'transactionalEmails.sendTransacEmail',
    body: () => ({
      sender,
      to: [{ email: 'ann@example.com', name: 'Ann' }],
      cc: [{ email: 'cc@example.com', name: 'Copy' }],
      bcc: [{ email: 'bcc@example.com' }],
      replyTo: { email: 'help@example.com', name: 'Help' },
      subject: 'Hello {{ params.name }}',
      htmlContent: '<p>Hello {{ params.name }}</p>',
      textContent: 'Hello {{ params.name }}',
      params: { name: 'Ann' },
      headers: { 'X-Order': '7' },
      tags: ['hello'],
      attachment: [{ name: 'note.txt', content: Buffer.from('note').toString('base64') }],
    }),
    status: 201,
    gives: ({ messageId }, s) => {
      s.messageId = messageId
    },
  },
  {
    does: 'transactionalEmails.sendTransacEmail',
    body: ({ templateId }) => ({
      to: [{ email: 'ann@example.com' }],
      templateId,
      params: { order: '8' },
    }),
    status: 201,
    gives: ({ messageId }) => assert.match(messageId, /^<.+@.+>$/),
  },
  {
    does: 'transactionalEmails.sendTransacEmail',
    body: () => ({
      sender,
      subject: 'Hello',
      htmlContent: '<p>Hello {{ params.name }}</p>',
      messageVersions: [
        { to: [{ email: 'ann@example.com' }], params: { name: 'Ann' } },
        { to: [{ email: 'bob@example.com' }], params: { name: 'Bob' }, subject: 'Hello Bob' },
      ],
    }),
    status: 201,
    gives: ({ messageIds }) => assert.equal(messageIds.length, 2),
  },
  {
    does: 'transactionalEmails.sendTransacEmail',
    before: async (s) => {
      s.batchId = randomUUID()
    },
    body: (s) => ({
      sender,
      to: [{ email: 'ann@example.com' }],
      subject: 'Later',
      htmlContent: '<p>Later</p>',
      scheduledAt: new Date(Date.now() + 3_600_000),
      batchId: s.batchId,
    }),
    status: 202,
    gives: ({ messageId }, s) => {
      s.scheduledId = messageId
    },
  },
]

const scheduled: Step[] = [
  {
    does: 'transactionalEmails.getScheduledEmailById',
    args: ({ scheduledId }) => ({ identifier: scheduledId }),
    gives: ({ status }) => assert.equal(status, 'queued'),
  },
  {
    does: 'transactionalEmails.getScheduledEmailByMessageId',
    args: ({ scheduledId }) => ({ messageId: scheduledId }),
    gives: ({ status }) => assert.equal(status, 'queued'),
  },
  {
    does: 'transactionalEmails.getScheduledEmailByBatchId',
    args: ({ batchId }) => ({ batchId }),
    gives: ({ count }) => assert.equal(count, 1),
  },
  {
    does: 'transactionalEmails.deleteScheduledEmailById',
    args: ({ scheduledId }) => ({ identifier: scheduledId }),
    status: 204,
  },
]

const days = () => ({ days: 2, limit: 10, offset: 0, sort: 'desc' })

const reading: Step[] = [
  {
    does: 'transactionalEmails.getTransacEmailsList',
    before: async (s, { call }) => {
      await until(async () => {
        const { body } = await call('GET', '/api/v1/messages?to=ann@example.com&tag=hello')
        return body.data[0]?.status === 'delivered'
      }, `the message ${s.messageId}`)
    },
    args: ({ messageId }) => ({ messageId, sort: 'desc', limit: 10, offset: 0 }),
    gives: ({ transactionalEmails }, s) => {
      const ann = transactionalEmails.find(({ email }: { email: string }) => email === 'ann@example.com')
      assert.deepEqual([ann.messageId, ann.subject], [s.messageId, 'Hello Ann'])
      s.uuid = ann.uuid
    },
  },
  {
    does: 'transactionalEmails.getTransacEmailContent',
    args: ({ uuid }) => ({ uuid }),
    gives: ({ body, attachmentCount }) => {
      assert.match(body, /Hello Ann/)
      assert.equal(attachmentCount, 1)
    },
  },
  {
    does: 'transactionalEmails.getEmailEventReport',
    args: () => ({ ...days(), email: 'ann@example.com', event: 'delivered' }),
    gives: ({ events }) => assert.equal(events[0].event, 'delivered'),
  },
  {
    does: 'transactionalEmails.getSmtpReport',
    args: days,
    gives: ({ reports }) => assert.ok(reports[0].requests > 0),
  },
  {
    does: 'transactionalEmails.getAggregatedSmtpReport',
    args: () => ({ days: 2, tag: 'hello' }),
    gives: ({ requests }) => assert.equal(requests, 3),
  },
]

const block = (email: string, reason: string): Step['before'] =>
  async function blockFirst(_, { call }) {
    await call('POST', '/api/v1/suppressions', { email, reason })
  }

const blocked: Step[] = [
  {
    does: 'transactionalEmails.getTransacBlockedContacts',
    before: block('blocked@example.com', 'manual'),
    args: () => ({ limit: 50, offset: 0, sort: 'desc', startDate: '2026-01-01', endDate: '2030-01-01' }),
    gives: ({ contacts }) =>
      assert.deepEqual([contacts[0].email, contacts[0].reason.code], ['blocked@example.com', 'adminBlocked']),
  },
  {
    does: 'transactionalEmails.getTransacBlockedContacts',
    args: () => ({ limit: 50, offset: 0, senders: ['shop@example.com', 'news@example.com'] }),
    gives: ({ count }) => assert.equal(count, 0),
  },
  {
    does: 'transactionalEmails.unblockOrResubscribeATransactionalContact',
    args: () => ({ email: 'blocked@example.com' }),
    status: 204,
  },
  {
    does: 'transactionalEmails.blockNewDomain',
    body: () => ({ domain: 'blocked.example' }),
    status: 201,
  },
  {
    does: 'transactionalEmails.getBlockedDomains',
    gives: ({ domains }) => assert.deepEqual(domains, ['blocked.example']),
  },
  {
    does: 'transactionalEmails.deleteBlockedDomain',
    args: () => ({ domain: 'blocked.example' }),
    status: 204,
  },
  {
    does: 'transactionalEmails.deleteHardbounces',
    body: () => ({ startDate: '2026-01-01', endDate: '2027-01-01', contactEmail: 'gone@example.com' }),
    optsBody: 'deleteHardbounces',
    status: 204,
  },
]

export const emailSteps = [...templates, ...sending, ...scheduled, ...reading, ...blocked]

export const lastEmailSteps: Step[] = [
  {
    does: 'transactionalEmails.deleteSmtpTemplate',
    before: async (s, { call }) => {
      await call('PUT', `/v3/smtp/templates/${s.templateId}`, { isActive: false })
    },
    args: ({ templateId }) => ({ templateId }),
    status: 204,
  },
]
