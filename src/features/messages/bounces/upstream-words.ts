type Data = { reason?: unknown; smtp_code?: unknown; enhanced_code?: unknown }

/** What the upstream said, with its codes in front, where readers of the provider's payloads look for them. */
export function upstreamWords({ reason, smtp_code, enhanced_code }: Data): string | undefined {
  if (typeof reason !== 'string') return undefined
  if (typeof smtp_code !== 'number' || /^\d{3}\b/.test(reason)) return reason
  const codes = typeof enhanced_code === 'string' ? `${smtp_code} ${enhanced_code}` : `${smtp_code}`
  return `${codes} ${reason}`.trim()
}
