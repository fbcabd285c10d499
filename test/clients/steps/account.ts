// The account, its senders, domains, webhooks and events.
import assert from 'node:assert/strict'
import { until } from '../../until.ts'
import type { Loose } from '../clients.ts'
import type { Step } from './step.ts'

const account: Step[] = [
  { does: 'account.getAccount', gives: ({ relay }) => assert.equal(typeof relay.data.userName, 'string') },
]

const senders: Step[] = [
  {
    does: 'senders.createSender',
    body: (s) => ({ name: 'Shop', email: s.senderEmail }),
    optsBody: 'sender',
    status: 201,
    gives: ({ id }, s) => {
      s.senderId = id
    },
  },
  {
    does: 'senders.updateSender',
    args: ({ senderId }) => ({ senderId }),
    body: () => ({ name: 'Store' }),
    optsBody: 'sender',
    status: 204,
  },
  {
    does: 'senders.validateSenderByOtp',
    before: async (s, { call }) => {
      const found = await until(async () => {
        const { body } = await call('GET', `/api/v1/sandbox/messages?to=${s.senderEmail}`)
        return body.data[0]
      }, 'the code')
      s.otp = Number(/code: (\d{6})\b/.exec(found.text)?.[1])
    },
    args: ({ senderId }) => ({ senderId }),
    // Two clients have a wrong name for it.
    body: ({ otp }) => ({ otp, name: otp }),
    status: 204,
  },
  {
    does: 'senders.getSenders',
    gives: ({ senders }, s) => {
      assert.deepEqual([senders[0].id, senders[0].name], [s.senderId, 'Store'])
    },
  },
  { does: 'senders.getIps', gives: ({ ips }) => assert.deepEqual(ips, []) },
  {
    does: 'senders.getIpsFromSender',
    args: ({ senderId }) => ({ senderId }),
    gives: ({ ips }) => assert.deepEqual(ips, []),
  },
  { does: 'senders.deleteSender', args: ({ senderId }) => ({ senderId }), status: 204 },
]

const domainName = (s: { domain?: string }) => ({ domainName: s.domain })

/** Some clients write it otherwise than it is on the wire. */
const nameOf = (a: Loose) => a.domain_name ?? a.domainName

const domains: Step[] = [
  {
    does: 'domains.createDomain',
    body: ({ domain }) => ({ name: domain }),
    gives: (a) => assert.ok(a.dns_records?.dkim_record ?? a.dnsRecords.dkimRecord),
  },
  {
    does: 'domains.getDomains',
    gives: ({ domains }, s) => assert.equal(nameOf(domains[0]), s.domain),
  },
  {
    does: 'domains.getDomainConfiguration',
    args: domainName,
    gives: ({ domain }, s) => assert.equal(domain, s.domain),
  },
  {
    does: 'domains.authenticateDomain',
    args: domainName,
    gives: (a, s) => assert.equal(nameOf(a), s.domain),
  },
  { does: 'domains.deleteDomain', args: domainName, status: 204 },
]

const webhooks: Step[] = [
  {
    does: 'webhooks.createWebhook',
    body: () => ({
      url: 'https://203.0.114.7/hook',
      description: 'Shop',
      events: ['delivered', 'hardBounce'],
      type: 'transactional',
    }),
    status: 201,
    gives: ({ id }, s) => {
      s.webhookId = id
    },
  },
  {
    does: 'webhooks.getWebhooks',
    args: () => ({ type: 'transactional', sort: 'desc' }),
    gives: ({ webhooks }, s) => assert.equal(webhooks[0].id, s.webhookId),
  },
  {
    does: 'webhooks.updateWebhook',
    args: ({ webhookId }) => ({ webhookId }),
    body: () => ({ url: 'https://203.0.114.7/other', events: ['opened'] }),
    status: 204,
  },
  {
    does: 'webhooks.getWebhook',
    args: ({ webhookId }) => ({ webhookId }),
    gives: ({ events }) => assert.deepEqual(events, ['opened']),
  },
  { does: 'webhooks.deleteWebhook', args: ({ webhookId }) => ({ webhookId }), status: 204 },
]

const event = {
  event_name: 'order',
  identifiers: { email_id: 'ann@example.com' },
  event_properties: { total: 12 },
}

const events: Step[] = [
  { does: 'event.createEvent', body: () => event, status: 204 },
  {
    does: 'event.createBatchEvents',
    body: () => ({ events: [event, { ...event, event_name: 'visit' }] }),
    status: 202,
    gives: ({ count }) => assert.equal(count, 2),
  },
  {
    does: 'event.getEvents',
    args: () => ({ event_name: ['order'], limit: 10, offset: 0 }),
    gives: ({ events }) => assert.equal(events[0].event_name, 'order'),
  },
]

export const accountSteps = [...account, ...senders, ...domains, ...webhooks, ...events]
