import { Refusal } from '../../kernel/refusal.ts'
import type { Client } from './client.ts'
import type { Stage } from './replies.ts'

/** The text of an unexpected error may quote the message or the password, so only its name and place are kept. */
export function logFailure(client: Client, stage: Stage, error: unknown, requestId?: string): void {
  const common = { stage, ip: client.ip, requestId }
  const told =
    error instanceof Refusal
      ? { event: 'relay.refused', code: error.code }
      : { event: 'relay.error', ...describe(error) }
  client.relay.log({ ...told, ...common })
}

function describe(error: unknown): { name: string; code?: unknown; at?: string[] } {
  if (!(error instanceof Error)) return { name: typeof error }
  const at = error.stack?.split('\n').filter((line) => /^\s+at /.test(line))
  return {
    name: error.name,
    code: 'code' in error ? error.code : undefined,
    at: at?.map((line) => line.trim()),
  }
}
