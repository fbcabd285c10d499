import type { FindUnsubscribeKeys } from '../features/contacts/unsubscribe/tokens.ts'
import { relayTurns } from '../features/messages/relay/api.smtp.ts'
// The whole interface, in the order of the specification.

import { getAccount, type Relay } from '../features/accounts/account/api.v3.ts'
import { listAudit } from '../features/accounts/audit/api.own.ts'
import { listNoticesOwn } from '../features/accounts/notices/api.own.ts'
import { getSettings, updateSettings } from '../features/accounts/settings/api.own.ts'
import { getUsage } from '../features/accounts/usage/api.own.ts'
import { getCapabilities, getHealth } from '../features/discovery/api.own.ts'
import { describeCapabilities } from '../features/discovery/capabilities.ts'
import type { Probes } from '../features/discovery/health.ts'
import type { DomainNeeds } from '../features/domains/look-at-domain.ts'
import type { MediaNeeds } from '../features/media/api.v3.ts'
import { getMessage, listMessagesOwn } from '../features/messages/api.own.ts'
import { getSandboxRaw, listSandbox } from '../features/messages/sandbox.api.own.ts'
import type { MailboxNeeds } from '../features/outreach/mailboxes/write-mailbox.ts'
import {
  findOutgoing,
  listOutgoing,
  listOutgoingEvents,
} from '../features/outreach/messages/listed-queries.ts'
import type { SmsNeeds } from '../features/sms/send-sms.ts'
import {
  getAggregatedReport,
  getEmailReports,
  listEmailEventsV3,
} from '../features/statistics/transactional/api.v3.ts'
import {
  createSuppression,
  deleteSuppressionOwn,
  listSuppressionsOwn,
} from '../features/suppressions/api.own.ts'
import * as blockedDomains from '../features/suppressions/blocked-domains.api.v3.ts'
import { sendTransactional } from '../features/transactional/api.own.ts'
import { cancelMessage } from '../features/transactional/cancel.api.own.ts'
import type { FindOptinKeys } from '../features/transactional/double-optin/tokens.ts'
import * as templates from '../features/transactional/templates-v3/api.v3.ts'
import type { FetchAttachment } from '../features/transactional/v3/attachments.ts'
import {
  deleteBlockedContact,
  deleteHardbouncesV3,
  listBlockedContacts,
} from '../features/transactional/v3/blocked.api.v3.ts'
import * as emails from '../features/transactional/v3/emails.api.v3.ts'
import { sendTransacEmail } from '../features/transactional/v3/send.api.v3.ts'
import { validateMessage } from '../features/transactional/validate.api.own.ts'
import type { WebhookNeeds } from '../features/webhooks/write-webhook.ts'
import { longestIdempotencyKey } from '../gates/idempotency.ts'
import { silentLog } from '../kernel/log.ts'
import type { MailboxSender } from '../kernel/mailbox-ports.ts'
import { type Operation, operationId } from '../kernel/operation.ts'
import type { Dns, FileStorage } from '../kernel/ports.ts'
import { campaignOperations } from './campaign-operations.ts'
import { contactOperations } from './contact-operations.ts'
import { domainOperations } from './domain-operations.ts'
import { eventOperations } from './event-operations.ts'
import { mediaOperations } from './media.ts'
import { outreachOperations } from './outreach.ts'
import { senderOperations } from './sender-operations.ts'
import { smsOperations } from './sms.ts'
import { statisticsOperations } from './statistics-operations.ts'
import { webhookOperations } from './webhook-operations.ts'

export type OperationNeeds = {
  dns: Dns

  probes: Probes
  relay: Relay
  version: string
  baseUrl: string
  rateFactor: number
  fetchAttachment?: FetchAttachment
  unsubscribeKeys: FindUnsubscribeKeys
  optinKeys: FindOptinKeys
  secretKeys: () => Promise<Buffer[]>
  inFlightMessages: number
  domains: DomainNeeds
  webhooks: WebhookNeeds
  media: Omit<MediaNeeds, 'baseUrl'>
  sms: SmsNeeds
  mailboxes: MailboxNeeds
  /** Under test: operations of the test's own beside the declared ones. */
  extraOperations?: Operation[]
}

/** An upstream that keeps identities has an envelope of its own: SPF of the sender's domain says nothing about it. */
const sendersOf = ({ dns, identity, spf }: DomainNeeds) => ({
  dns,
  spf: identity ? { include: [], ip: [] } : spf,
})

const outgoing = { list: listOutgoing, find: findOutgoing, events: listOutgoingEvents }

export function declareOperations(needs: OperationNeeds): Operation[] {
  const fetching = { fetchAttachment: needs.fetchAttachment ?? fetchNothing }
  let described: ReturnType<typeof describeCapabilities> | undefined
  const operations: Operation[] = [
    getCapabilities(() => {
      described ??= describeCapabilities(operations, { ...needs, longestIdempotencyKey })
      return described
    }),
    getHealth(needs.probes),
    ...transactionalOperations({ ...fetching, baseUrl: needs.baseUrl }),
    ...smsOperations(needs.sms),
    ...campaignOperations({ ...needs, ...fetching }),
    listMessagesOwn(outgoing),
    validateMessage({ ...sendersOf(needs.domains), ...fetching }),
    getMessage(outgoing),
    cancelMessage(outgoing),
    listSandbox,
    getSandboxRaw,
    listSuppressionsOwn,
    createSuppression,
    deleteSuppressionOwn,
    ...domainOperations(needs.domains),
    listAudit(() => operations),
    getSettings,
    updateSettings,
    getUsage,
    listNoticesOwn,
    getAccount(needs.relay),
    ...senderOperations({ ...needs, transportKind: () => needs.probes.kinds.transport }),
    ...contactOperations({ ...needs, ...fetching }),
    ...statisticsOperations,
    ...eventOperations,
    ...webhookOperations(needs.webhooks),
    ...mediaOperations({ baseUrl: needs.baseUrl, ...needs.media }),
    ...outreachOperations(needs.mailboxes),
    ...(needs.extraOperations ?? []),
  ]
  return operations
}

function transactionalOperations(fetching: {
  fetchAttachment: FetchAttachment
  baseUrl: string
}): Operation[] {
  return [
    sendTransactional(fetching),
    sendTransacEmail(fetching),
    emails.cancelTransacEmail,
    emails.getScheduledEmail,
    emails.listTransacEmails,
    emails.getTransacEmail,
    templates.listTemplatesV3,
    templates.createTemplateV3(fetching),
    templates.getTemplateV3,
    templates.updateTemplateV3(fetching),
    templates.testTemplateV3(fetching),
    templates.previewTemplateV3,
    templates.deleteTemplateV3,
    listEmailEventsV3,
    getEmailReports,
    getAggregatedReport,
    listBlockedContacts,
    deleteBlockedContact,
    deleteHardbouncesV3,
    ...Object.values(blockedDomains),
  ]
}

const fetchNothing: FetchAttachment = async () => {
  throw new Error('attachments by address are not enabled')
}

const unreadable = async () => 'unreadable' as const
const noDns: Dns = {
  mx: unreadable,
  txt: unreadable,
  cname: unreadable,
  addresses: unreadable,
  exists: unreadable,
}

const nowhere = async () => undefined
const noStorage: FileStorage = {
  kind: 'none',
  write: nowhere,
  read: nowhere,
  remove: nowhere,
  verify: nowhere,
}

const noMailboxes: MailboxSender = {
  send: async () => {
    throw new Error('there is no way to mailboxes')
  },
  test: async () => 'there is no way to mailboxes',
}

/** The declarations alone, to read facts off: names, routes, schemas. Not to be run. */
export function declarationsOnly(): Operation[] {
  return declareOperations({
    probes: {
      refusedWrites: () => undefined,
      queue: async () => ({ depth: null, oldest_s: null }),
      transport: async () => ({ kind: 'none', state: 'unknown' }),
      smsTransport: async () => ({ kind: 'none', state: 'unknown' }),
      kinds: { transport: 'none', smsTransport: 'none' },
    },
    dns: noDns,
    relay: { enabled: false, host: '', port: 0 },
    version: '0.0.0',
    baseUrl: 'http://127.0.0.1:8025',
    rateFactor: 1,
    unsubscribeKeys: async () => [],
    optinKeys: async () => [],
    secretKeys: async () => [],
    inFlightMessages: 0,
    domains: { dns: noDns, log: silentLog, spf: { include: [], ip: [] }, secretKeys: async () => [] },
    webhooks: { secretKeys: async () => [], checkTarget: async () => undefined },
    media: { storage: noStorage, log: silentLog, fetchImage: fetchNothing },
    sms: { stop: { text: 'STOP 36111', byUpstream: false } },
    mailboxes: { secretKeys: async () => [], sender: noMailboxes, allowPrivate: false },
  })
}

export function knownOperationIds(): string[] {
  return [...declarationsOnly().map(operationId), relayTurns]
}
