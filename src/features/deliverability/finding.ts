import type { Request } from './requests.ts'

export const severities = ['info', 'warning', 'critical'] as const
export type Severity = (typeof severities)[number]
export const areas = ['authentication', 'reputation', 'list_origin', 'content'] as const

export type Finding = {
  code: string
  severity: Severity
  area: (typeof areas)[number]
  /** The sending domain that it is about. */
  domain: string | null
  message: string
  evidence: Record<string, unknown>
  /** What mends it; null where no request can. */
  action: Request | null
  /** What shows that it is mended. */
  proof: Request
}

export const windowDays = 30

/** Where attention begins and where large providers begin to refuse. */
export const thresholds = {
  hard_bounces: { warning: 0.02, critical: 0.05, fewest: 3 },
  complaints: { warning: 0.001, critical: 0.003, fewest: 2 },
  // No provider names one; a list that this many leave did not ask for the mail.
  unsubscriptions: { warning: 0.02, critical: Number.POSITIVE_INFINITY, fewest: 5 },
  // Refusals that are no fault of the address, at one mailbox provider.
  blocks: { warning: 0.05, critical: 0.1, fewest: 5 },
} as const

export type Kind = keyof typeof thresholds

/** Undefined when all is well; a few alone say nothing. */
export function severityOf(kind: Kind, n: number, of: number): Severity | undefined {
  const { warning, critical, fewest } = thresholds[kind]
  if (n < fewest || of === 0) return undefined
  if (n / of >= critical) return 'critical'
  return n / of >= warning ? 'warning' : undefined
}

export function worst(found: (Severity | undefined)[]): Severity | undefined {
  return [...severities].reverse().find((severity) => found.includes(severity))
}

export const rateOf = (n: number, of: number) => (of === 0 ? 0 : Number((n / of).toFixed(5)))
export const perCent = (n: number, of: number) => `${Number((rateOf(n, of) * 100).toFixed(2))} %`
