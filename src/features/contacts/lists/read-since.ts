import { invalidParameter } from '../../../kernel/refusals.ts'

const form = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?)?$/i

/** A day, or a time; one without a zone is UTC. Undefined when none is given. */
export function readSince(given: string | undefined, param: string): Date | undefined {
  if (!given) return undefined
  // A plus that was not encoded arrives as a space.
  const text = given.replace(/(:\d{2}(\.\d+)?) (\d{2}:?\d{2})$/, '$1+$3').replace(' ', 'T')
  const isZoned = text.length <= 10 || /(Z|[+-]\d{2}:?\d{2})$/i.test(text)
  const at = new Date(isZoned ? text : `${text}Z`)
  if (form.test(text) && !Number.isNaN(at.getTime())) return at
  throw invalidParameter({ message: `${param} must be a time such as 2026-11-15T09:30:00Z`, param })
}
