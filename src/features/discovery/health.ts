import { type Static, Type } from 'typebox'
import type { Ctx } from '../../kernel/ctx.ts'
import type { Db } from '../../kernel/db.ts'
import { databaseUnavailable } from '../../kernel/refusals.ts'
import { closed, orNull, words } from '../../kernel/schema.ts'
import { readServer } from './queries.ts'

/** `failing`: it answers and takes no writes; `message` says why, as with a full disk. */
const Database = closed({
  state: words(['ok', 'failing', 'down']),
  latency_ms: orNull(Type.Number()),
  version: orNull(Type.String()),
  message: Type.Optional(Type.String()),
})
/** `since` and `message`: when it began to fail, and what it said last. */
const Transport = closed({
  kind: Type.String(),
  state: words(['ok', 'failing', 'unknown']),
  since: Type.Optional(Type.String()),
  message: Type.Optional(Type.String()),
})

export const Health = closed({
  status: words(['ok', 'degraded', 'down']),
  database: Database,
  queue: closed({ depth: orNull(Type.Integer()), oldest_s: orNull(Type.Integer()) }),
  transport: Transport,
  sms_transport: Transport,
  /** Beside the report, so that a 503 here reads like every other error of /api/v1. */
  error: Type.Optional(
    closed({
      code: Type.String(),
      message: Type.String(),
      status: Type.Integer(),
      retryable: Type.Boolean(),
      retry_after_s: orNull(Type.Integer()),
      request_id: Type.String(),
    }),
  ),
})

export type Health = Static<typeof Health>

/** What the parts of the service say about themselves. */
export type Probes = {
  /** Why the database took no write of late. */
  refusedWrites: () => string | undefined
  queue: (ctx: Ctx) => Promise<Health['queue']>
  transport: (ctx: Ctx) => Promise<Health['transport']>
  smsTransport: (ctx: Ctx) => Promise<Health['sms_transport']>
  /** Their names, for when nobody can be asked. */
  kinds: { transport: string; smsTransport: string }
}

/** Refuses when it cannot be written to, as after a failover to one that still copies. */
export async function pingDatabase(db: Db): Promise<{ version: string }> {
  const { version, read_only } = await readServer(db)
  if (read_only) throw databaseUnavailable({ message: 'The database only reads for now.' })
  return { version }
}

export async function readHealth(ctx: Ctx, probes: Probes): Promise<Health> {
  const started = performance.now()
  const { version } = await pingDatabase(ctx.db)
  const latency = Math.round((performance.now() - started) * 10) / 10
  const transport = await probes.transport(ctx)
  const smsTransport = await probes.smsTransport(ctx)
  const about = aboutWrites(probes)
  const database: Health['database'] = {
    state: about ? 'failing' : 'ok',
    latency_ms: latency,
    version,
    ...(about && { message: about }),
  }
  const isFailing = [database, transport, smsTransport].some(({ state }) => state === 'failing')
  return {
    status: isFailing ? 'degraded' : 'ok',
    database,
    queue: await probes.queue(ctx),
    transport,
    sms_transport: smsTransport,
  }
}

function aboutWrites({ refusedWrites }: Probes): string | undefined {
  const reason = refusedWrites()
  return reason && `It takes no writes: ${reason}`
}

/** Also where it is there, and this very call could not write what it has to. */
export function databaseDown(probes: Probes, requestId: string): Health {
  const { kinds } = probes
  const about = aboutWrites(probes)
  return {
    status: 'down',
    database: {
      state: about ? 'failing' : 'down',
      latency_ms: null,
      version: null,
      ...(about && { message: about }),
    },
    queue: { depth: null, oldest_s: null },
    transport: { kind: kinds.transport, state: 'unknown' },
    sms_transport: { kind: kinds.smsTransport, state: 'unknown' },
    error: {
      code: 'database_unavailable',
      message: about ? 'The database takes no writes.' : 'The database cannot be reached.',
      status: 503,
      retryable: true,
      retry_after_s: null,
      request_id: requestId,
    },
  }
}
