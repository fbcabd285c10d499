// A disk without room, or an allowance that is used up, as files and as PostgreSQL tell it.
const codes = ['ENOSPC', 'EDQUOT', '53100']

export const isDiskFull = (error: unknown): error is Error & { code: string } =>
  error instanceof Error && 'code' in error && codes.includes(String(error.code))
