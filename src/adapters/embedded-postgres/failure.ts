export class EmbeddedPostgresError extends Error {
  override name = 'EmbeddedPostgresError'
}

export const failure = (message: string, cause?: unknown) =>
  new EmbeddedPostgresError(message.replace(/\s+/g, ' ').trim(), { cause })

export const codeOf = (error: unknown): string | undefined =>
  error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : undefined

export const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

export const cannotRun = (error: unknown) =>
  failure(
    `the embedded PostgreSQL does not run here (${messageOf(error)}): set DATABASE_URL to a PostgreSQL server`,
    error,
  )

export const unless = <T>(codes: string[], instead: T) => {
  return (error: unknown): T => {
    if (codes.includes(codeOf(error) ?? '')) return instead
    throw error
  }
}
