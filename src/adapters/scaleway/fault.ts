/**
 * malformed: not what the upstream sends. untrusted: not proven to be the upstream's, or not from our topic.
 * unavailable: could not be checked now, so that the upstream should try again.
 */
export type FeedbackFaultCode = 'malformed' | 'untrusted' | 'unavailable'

export class FeedbackFault extends Error {
  override name = 'FeedbackFault'
  readonly code: FeedbackFaultCode

  constructor(code: FeedbackFaultCode, message: string, cause?: unknown) {
    super(message, { cause })
    this.code = code
  }
}
