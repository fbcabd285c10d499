import { refusal } from '../refusal.ts'

export const outOfRange = refusal({
  code: 'out_of_range',
  kind: 'invalid',
  message: 'A parameter is out of range.',
})
