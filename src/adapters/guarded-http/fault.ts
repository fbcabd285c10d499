export type GuardedFaultCode =
  | 'blocked'
  | 'too_large'
  | 'timeout'
  | 'unreachable'
  | 'redirect'
  | 'invalid_url'

type Details = { reached?: boolean; status?: number; cause?: unknown }

/** Why a request to an outside address came to nothing. */
export class GuardedFault extends Error {
  override name = 'GuardedFault'
  readonly code: GuardedFaultCode
  /** The request may have arrived: it was being written, or more, when things went wrong. */
  readonly reached: boolean
  /** Of the answer, when its head was read. */
  readonly status: number | null

  constructor(code: GuardedFaultCode, message: string, details: Details = {}) {
    super(message.replace(/\s+/g, ' ').trim(), { cause: details.cause })
    this.code = code
    this.reached = details.reached ?? false
    this.status = details.status ?? null
  }
}
