import { refusal } from '../../kernel/refusal.ts'

export const feedbackMalformed = refusal({
  code: 'feedback_malformed',
  kind: 'malformed',
  message: 'This is not a notification of the provider.',
})

export const feedbackUntrusted = refusal({
  code: 'feedback_untrusted',
  kind: 'forbidden',
  message: 'The notification is not proven to come from a topic of this service.',
  hint: 'Notifications are taken from the topics in POSTHORN_SNS_TOPICS, within an hour of their time.',
})

export const feedbackUnavailable = refusal({
  code: 'feedback_unavailable',
  kind: 'unavailable',
  message: 'The notification could not be checked at the moment.',
  hint: 'Deliver it again later.',
})
