// A refusal is an expected no. It carries a kind; each face translates kinds into its own language.

export type Kind =
  | 'malformed'
  | 'invalid'
  | 'refused'
  | 'unauthenticated'
  | 'forbidden'
  | 'not_found'
  | 'method'
  | 'conflict'
  | 'too_large'
  | 'unsupported'
  | 'limited'
  | 'internal'
  | 'unavailable'

export type Fault = { code: string; message: string; param?: string }

/** The request that would mend the refusal. */
export type Action = { operation: string; method: string; path: string; scope: string | null; body?: unknown }

export type Told = {
  message?: string
  param?: string
  details?: Fault[]
  hint?: string
  action?: Action
  retryAfterSeconds?: number
  /** When a limit opens again, for those who are told in words. */
  opensAt?: Date
  /** Where it differs from what the declaration says: a limit that no waiting will lift. */
  retryable?: boolean
  /** What the compatible provider adds to its error body in some cases. */
  metadata?: Record<string, unknown>
  /** The same, for what it puts beside code and message. */
  fields?: Record<string, unknown>
  /** Response headers that belong to the refusal, such as Allow. */
  headers?: Record<string, string>
}

export type RefusalDeclaration = {
  code: string
  kind: Kind
  message: string
  hint?: string
  retryable?: boolean
  /** What the compatible provider says in this case, where it has a word of its own. */
  v3?: { code?: string; message?: string }
}

export class Refusal extends Error {
  readonly declaration: RefusalDeclaration
  readonly told: Told

  constructor(declaration: RefusalDeclaration, told: Told) {
    super(told.message ?? declaration.message)
    this.declaration = declaration
    this.told = told
  }

  get code() {
    return this.declaration.code
  }
}

export type RefusalMaker = ((told?: Told) => Refusal) & { declaration: RefusalDeclaration }

export function refusal(declaration: RefusalDeclaration): RefusalMaker {
  return Object.assign((told: Told = {}) => new Refusal(declaration, told), { declaration })
}

const statuses: Record<Kind, number> = {
  malformed: 400,
  invalid: 422,
  refused: 422,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  method: 405,
  conflict: 409,
  too_large: 413,
  unsupported: 415,
  limited: 429,
  internal: 500,
  unavailable: 503,
}

export type Face = 'own' | 'v3'

/** The provider answers 400 to invalid input; this service's own rules ("refused") are 422 in both namespaces. */
export function statusOf(kind: Kind, face: Face): number {
  return face === 'v3' && kind === 'invalid' ? 400 : statuses[kind]
}

const v3Codes: Partial<Record<Kind, string>> = {
  malformed: 'bad_request',
  not_found: 'document_not_found',
  limited: 'too_many_requests',
}

export function codeIn(face: Face, declaration: RefusalDeclaration): string {
  if (face === 'own') return declaration.code
  return declaration.v3?.code ?? v3Codes[declaration.kind] ?? declaration.code
}

function isRetryable({ kind, retryable }: RefusalDeclaration): boolean {
  return retryable ?? (kind === 'limited' || kind === 'unavailable')
}

/** The error body of /api/v1, also what agent tools answer. */
export function ownError(refusal: Refusal, status: number, requestId: string) {
  const { declaration, told } = refusal
  return {
    error: {
      code: declaration.code,
      message: refusal.message,
      status,
      param: told.param,
      details: told.details,
      hint: told.hint ?? declaration.hint,
      action: told.action,
      retryable: told.retryable ?? isRetryable(declaration),
      retry_after_s: told.retryAfterSeconds ?? null,
      request_id: requestId,
    },
  }
}
