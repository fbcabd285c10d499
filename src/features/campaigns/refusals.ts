import { refusal } from '../../kernel/refusal.ts'

export const campaignProcessing = refusal({
  code: 'campaign_processing',
  kind: 'invalid',
  message: 'The campaign is being sent.',
})

export const marketingUnsupported = refusal({
  code: 'marketing_unsupported',
  kind: 'forbidden',
  message: 'The upstream takes transactional mail only: no campaign can be sent through it.',
  hint: 'Whoever runs Posthorn sets POSTHORN_TRANSPORT to an upstream that takes marketing mail.',
})

export const campaignSent = refusal({
  code: 'campaign_sent',
  kind: 'invalid',
  message: 'The campaign has been sent.',
})
