// Requests of the campaign operations that succeed, and what must exist before them.
import type { App } from '../app.ts'
import type { Example } from './examples.ts'

const campaign = {
  name: 'Spring',
  subject: 'Hello {{ contact.FIRSTNAME }}',
  sender: { email: 'shop@example.com', name: 'Shop' },
  htmlContent: '<p>Hello</p><a href="{{ unsubscribe }}">Unsubscribe</a>',
}

const own = '/api/v1/campaigns'
const one = '/v3/emailCampaigns/1'
const later = new Date(Date.now() + 3_600_000).toISOString()
const abTest = { abTesting: true, subjectA: 'One', subjectB: 'Two', splitRule: 50 }

export const campaignExamples: Record<string, Partial<Example>> = {
  'campaign.send': { body: { campaign_id: 1, confirm: true } },
  'campaign.preview': { body: { html: '<p>Hello {{ contact.FIRSTNAME }}</p>', subject: 'Hello' } },
  'campaign.pause': { path: `${own}/1/pause` },
  'campaign.resume': { path: `${own}/1/resume` },
  'campaign.cancel': { path: `${own}/1/cancel`, body: { confirm: true } },
  'v3.campaign.create': { body: campaign },
  'v3.campaign.get': { path: one },
  'v3.campaign.update': { path: one, body: { name: 'Summer' } },
  'v3.campaign.delete': { path: one },
  'v3.campaign.cancel': { path: `${one}/cancel` },
  'v3.campaign.pause': { path: `${one}/pause` },
  'v3.campaign.stop': { path: `${one}/stop` },
  'v3.campaign.resume': { path: `${one}/resume` },
  'v3.campaign.schedule': { path: `${one}/schedule`, body: { scheduledAt: later } },
  'v3.campaign.send': { path: `${one}/sendNow`, body: { confirm: true } },
  'v3.campaign.test': { path: `${one}/sendTest`, body: { emailTo: ['anna@example.com'] } },
  'v3.campaign.statistics': { path: `${one}/statistics` },
  'v3.campaign.status': { path: `${one}/status`, body: { status: 'cancel' } },
  'v3.campaign.recipients': { path: `${one}/recipients` },
  'v3.campaign.shared_url': { path: `${one}/sharedUrl` },
  'v3.campaign.ab_test': { path: `${one}/abTestCampaignResult` },
  'v3.campaign.export_recipients': {
    path: `${one}/exportRecipients`,
    body: { recipientsType: 'nonOpeners', notifyURL: 'https://shop.example.com/exported' },
  },
  'v3.campaign.send_report': {
    path: `${one}/sendReport`,
    body: { language: 'en', email: { to: ['anna@example.com'], body: 'How the spring campaign went.' } },
  },
}

type Prepare = (app: App, key: string) => Promise<Partial<Example>>

async function makeCampaign(app: App, key: string, more: object = {}): Promise<number> {
  const list = await app.call('POST', '/v3/contacts/lists', { key, body: { name: 'News' } })
  const listIds = [list.body.id]
  await app.call('POST', '/v3/contacts', {
    key,
    body: { email: 'anna@example.com', listIds, updateEnabled: true },
  })
  const { body } = await app.call('POST', '/v3/emailCampaigns', {
    key,
    body: { ...campaign, recipients: { listIds }, ...more },
  })
  return body.id
}

const ownAt =
  (part: string, ...before: [path: string, body?: object][]): Prepare =>
  async (app, key) => {
    const { path = '' } = await at('', ...before)(app, key)
    return { path: path.replace('/v3/emailCampaigns', own) + part }
  }

const at =
  (part = '', ...before: [path: string, body?: object][]): Prepare =>
  async (app, key) => {
    const path = `/v3/emailCampaigns/${await makeCampaign(app, key)}`
    for (const [first, body] of before) await app.call('POST', path + first, { key, body })
    return { path: path + part }
  }

const queued: [string, object] = ['/schedule', { scheduledAt: later }]

export const campaignPrepared: Record<string, Prepare> = {
  'campaign.send': async (app, key) => ({
    body: { campaign_id: await makeCampaign(app, key), confirm: true },
  }),
  'campaign.pause': ownAt('/pause', queued),
  'campaign.resume': ownAt('/resume', queued, ['/pause']),
  'campaign.cancel': ownAt('/cancel', queued),
  'v3.campaign.get': at(),
  'v3.campaign.update': at(),
  'v3.campaign.delete': at(),
  'v3.campaign.cancel': at('/cancel'),
  'v3.campaign.pause': at('/pause', queued),
  'v3.campaign.stop': at('/stop', queued),
  'v3.campaign.resume': at('/resume', queued, ['/pause']),
  'v3.campaign.schedule': at('/schedule'),
  'v3.campaign.send': at('/sendNow'),
  'v3.campaign.test': at('/sendTest'),
  'v3.campaign.statistics': at('/statistics'),
  'v3.campaign.status': at('/status'),
  'v3.campaign.recipients': at('/recipients'),
  'v3.campaign.shared_url': at('/sharedUrl'),
  'v3.campaign.ab_test': async (app, key) => ({
    path: `/v3/emailCampaigns/${await makeCampaign(app, key, abTest)}/abTestCampaignResult`,
  }),
  'v3.campaign.export_recipients': at('/exportRecipients'),
  'v3.campaign.send_report': at('/sendReport', ['/sendNow', { confirm: true }]),
}
