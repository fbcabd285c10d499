import { refusal } from '../../kernel/refusal.ts'

export const campaignProcessing = refusal({
  code: 'campaign_processing',
  kind: 'invalid',
  message: 'The campaign is being sent.',
})

export const campaignSent = refusal({
  code: 'campaign_sent',
  kind: 'invalid',
  message: 'The campaign has been sent.',
})
