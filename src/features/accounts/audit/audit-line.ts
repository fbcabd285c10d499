// What a line of the action log holds: who called what, with which parameters, and what came of it.
// Contents, secrets and template parameters never stand in it.

export type AuditLine = {
  id: string
  accountId: string
  at: Date
  keyId: string
  operation: string
  /** JSON text. */
  params: string
  status: number
  code: string | null
  requestId: string
  ip: string | null
}

const longestText = 200
const mostEntries = 50
const deepest = 4

/** The parameters of a call, without the fields declared secret, cut to a size that a log can bear. */
export function auditableParams(input: Record<string, unknown>, secret: readonly string[]): string {
  const shown: Record<string, unknown> = {}
  for (const part of Object.values(input)) {
    if (part === null || typeof part !== 'object' || Array.isArray(part)) continue
    for (const [name, value] of Object.entries(part).slice(0, mostEntries)) {
      if (!secret.includes(name)) shown[clean(name)] = trimmed(value, deepest)
    }
  }
  return JSON.stringify(shown)
}

function trimmed(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return clean(value)
  if (value === null || typeof value !== 'object') return value
  if (depth === 0) return '…'
  if (Array.isArray(value)) return value.slice(0, mostEntries).map((item) => trimmed(item, depth - 1))
  return Object.fromEntries(
    Object.entries(value)
      .slice(0, mostEntries)
      .map(([name, inner]) => [clean(name), trimmed(inner, depth - 1)]),
  )
}

// jsonb takes neither NUL nor half of a surrogate pair.
function clean(text: string): string {
  const cut = text.length > longestText ? `${text.slice(0, longestText)}…` : text
  return cut.replaceAll('\u0000', '').toWellFormed()
}
