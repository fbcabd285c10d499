import { refusal } from '../../kernel/refusal.ts'

export const contentMissing = refusal({
  code: 'content_missing',
  kind: 'invalid',
  message: 'The message has no content.',
  hint: 'Give html, text or template_id, and a subject unless the template has one.',
  v3: { code: 'missing_parameter', message: 'Either of htmlContent or textContent is required' },
})

export const recipientSuppressed = refusal({
  code: 'recipient_suppressed',
  kind: 'refused',
  message: 'The recipient is on the suppression list.',
})

const hintsOfReasons: Record<string, string> = {
  hard_bounce:
    'The mailbox does not exist: find out the right address. Remove this one only if you know that it exists by now.',
  soft_bounce_limit:
    'The mailbox took nothing for a long time. Remove it from the list only if you know that it is in use again.',
  manual: 'Somebody put it there by hand: remove it only if the reason for that is gone.',
}

export const hintOfReason = (reason: string) =>
  hintsOfReasons[reason] ?? 'Remove it from the suppression list only if the person asked for that.'

export const recipientInvalid = refusal({
  code: 'recipient_invalid',
  kind: 'invalid',
  message: 'The recipient is not an email address.',
  v3: { code: 'invalid_parameter' },
})

export const templateInvalid = refusal({
  code: 'template_invalid',
  kind: 'invalid',
  message: 'The template cannot be used.',
  v3: { code: 'invalid_parameter' },
})
