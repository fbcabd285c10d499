import { refusal } from '../../kernel/refusal.ts'

export const smsWindowClosed = refusal({
  code: 'sms_window_closed',
  kind: 'refused',
  message: 'Marketing SMS are not sent at this time.',
})
