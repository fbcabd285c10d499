import { refusal } from '../../../kernel/refusal.ts'

export const mostRows = 20_000

export const tooManyRows = refusal({
  code: 'invalid_parameter',
  kind: 'too_large',
  message: `An import takes at most ${mostRows} rows.`,
  hint: 'Split the file and import its parts one after the other.',
})
