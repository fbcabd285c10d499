// Email campaigns, from the draft to the report.
import assert from 'node:assert/strict'
import type { Step } from './step.ts'

const campaign = {
  name: 'Spring',
  subject: 'Hello',
  sender: { email: 'shop@example.com', name: 'Shop' },
  htmlContent: '<p>Hello</p><a href="{{ unsubscribe }}">Unsubscribe</a>',
}
const one = ({ campaignId }: { campaignId?: number }) => ({ campaignId })

export const campaignSteps: Step[] = [
  {
    does: 'emailCampaigns.createEmailCampaign',
    body: ({ listId }) => ({ ...campaign, recipients: { listIds: [listId] } }),
    status: 201,
    gives: ({ id }, s) => {
      s.campaignId = id
    },
  },
  {
    does: 'emailCampaigns.getEmailCampaigns',
    args: () => ({ type: 'classic', status: 'draft', limit: 10, offset: 0, sort: 'desc' }),
    gives: ({ campaigns }, s) => assert.equal(campaigns[0].id, s.campaignId),
  },
  {
    does: 'emailCampaigns.updateEmailCampaign',
    args: one,
    body: () => ({ subject: 'Hello again' }),
    status: 204,
  },
  {
    does: 'emailCampaigns.getEmailCampaign',
    args: one,
    gives: ({ subject, status }) => assert.deepEqual([subject, status], ['Hello again', 'draft']),
  },
  {
    does: 'emailCampaigns.sendTestEmail',
    args: one,
    body: () => ({ emailTo: ['ann@example.com'] }),
    wrapped: true,
    status: 204,
  },
  {
    does: 'emailCampaigns.getSharedTemplateUrl',
    args: one,
    gives: ({ sharedUrl }) => assert.match(sharedUrl, /^http/),
  },
  {
    does: 'emailCampaigns.sendEmailCampaignNow',
    args: one,
    status: 204,
    otherwise: async ({ campaignId }, { call }) => {
      await call('POST', `/v3/emailCampaigns/${campaignId}/sendNow`)
    },
  },
  {
    does: 'emailCampaigns.updateCampaignStatus',
    args: one,
    body: () => ({ status: 'suspended' }),
    wrapped: true,
    status: 204,
  },
  {
    does: 'emailCampaigns.sendReport',
    args: one,
    body: () => ({ language: 'en', email: { to: ['ann@example.com'], body: 'How it went' } }),
    wrapped: true,
    status: 204,
  },
  {
    does: 'emailCampaigns.emailExportRecipients',
    args: one,
    body: () => ({ recipientsType: 'all', notifyURL: 'https://shop.example/exported' }),
    optsBody: 'recipientExport',
    status: 202,
    gives: ({ processId }) => assert.equal(typeof processId, 'number'),
  },
  {
    does: 'emailCampaigns.createEmailCampaign',
    body: ({ listId }) => ({
      ...campaign,
      recipients: { listIds: [listId] },
      abTesting: true,
      subjectA: 'One',
      subjectB: 'Two',
      splitRule: 50,
    }),
    status: 201,
    gives: ({ id }, s) => {
      s.testedId = id
    },
  },
  {
    does: 'emailCampaigns.getAbTestCampaignResult',
    args: ({ testedId }) => ({ campaignId: testedId }),
    gives: ({ winningVersion }) => assert.equal(winningVersion, 'notAvailable'),
  },
  {
    does: 'emailCampaigns.deleteEmailCampaign',
    args: ({ testedId }) => ({ campaignId: testedId }),
    status: 204,
  },
  {
    does: 'emailCampaigns.uploadImageToGallery',
    body: () => ({ imageUrl: 'https://images.example.com/dot.png', name: 'dot' }),
    status: 201,
    gives: (answer) => assert.ok(answer === undefined || answer === '' || /\/m\/[\w-]{36}$/.test(answer.url)),
  },
]
