// An operation is declared once, as a plain object. Routes, validation, gates, OpenAPI, agent tools,
// capabilities and the contract tests read it; nothing about an operation stands anywhere else.
import type { Static, TObject, TSchema } from 'typebox'
import type { Ctx } from './ctx.ts'
import type { Db } from './db.ts'
import { nearest } from './nearest.ts'
import { type Face, Refusal, type RefusalMaker } from './refusal.ts'
import type { Scope } from './scope.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE'

export const areas = [
  'Discovery',
  'Transactional',
  'Messages',
  'Campaigns',
  'Contacts',
  'Domains',
  'Deliverability',
  'Account',
  'Webhooks',
  'Outreach',
  'Media library',
  'Data-subject rights',
  'Segments',
  'Events',
] as const

/** read and dry change nothing; irreversible cannot be taken back. */
export type Effect = 'read' | 'dry' | 'change' | 'irreversible'

type Declared<P extends TObject, Q extends TObject, B extends TSchema, R extends TSchema, A> = {
  /** noun.verb; audit log, metrics, OpenAPI operationId, agent tool. Shared by the faces of one act. */
  name: string
  http: `${Method} /${string}`
  area: (typeof areas)[number]
  summary: string
  description?: string
  /** null: any valid key. */
  scope: Scope | null
  /** Answers without a key. */
  public?: true
  effect: Effect
  /** It changes what callers are known by: what is remembered of them is forgotten afterwards. */
  changesCallers?: true
  perMinute?: number
  /** What its turns are counted as, and its limit set by, when that is not its own name. */
  countedAs?: string
  idempotent?: true
  params?: P
  query?: Q
  body?: B
  /** Fields of the body that the schema lets be absent, and the act does not: it has the provider's words for that. */
  needs?: string[]
  maxBodyBytes?: number
  upload?: Upload
  /** A body may also be a form, of which nothing is read. */
  ignoresForms?: true
  /** The first is the usual one; run picks another with `answer(status, body)`. */
  status?: number | number[]
  reply: R
  /** Another content type than JSON; the reply is then text, sent as it stands. */
  replyType?: string
  refusals?: RefusalMaker[]
  /** Top-level fields that never reach the audit log. */
  secret?: string[]
  /** Answers in place of the 503 error when the database does not. */
  whenDatabaseDown?: (requestId: string) => Answer<Static<R>>
  /**
   * What the act would refuse in the body, asked when the schema has refused something already, so that everything is
   * told at once. Fields with a fault are left out of the body and named in `faulty`.
   */
  findFaults?: FindFaults<B>
  /** What is read from servers of others; `prepare` gets what it gives. */
  fetch?: (ctx: Ctx, input: InputOf<P, Q, B>) => Promise<InputOf<P, Q, B>>
  /** What takes time outside the database; runs before the transaction, and what it gives is acted on instead. */
  prepare?: (ctx: Ctx, input: InputOf<P, Q, B>) => Promise<Input<Static<P>, Static<Q>, A>>
  /** About how many octets the act stores; calls with many do not share their transaction with others. */
  weigh?: (input: Input<Static<P>, Static<Q>, A>) => number
  /** Whether a call makes much of little: few of these are at work at a time. They have a `prepare`. */
  isLong?: (input: InputOf<P, Q, B>) => boolean
  /** An idempotency key that stands in the input, not in the header. */
  keyInInput?: { of: (input: InputOf<P, Q, B>) => string | undefined; rememberMs: number }
}

/**
 * The body may also come as multipart/form-data: the file in `field` becomes the text `content`, in base64, and what
 * it is called `name` where none is given. Behind the HTTP face there is one form only.
 */
export type Upload = { field: string; content: string; name: string; maxBytes: number }

export type Input<P, Q, B> = { params: P; query: Q; body: B }
type InputOf<P extends TSchema, Q extends TSchema, B extends TSchema> = Input<Static<P>, Static<Q>, Static<B>>

type FindFaults<B extends TSchema> = (
  ctx: Ctx,
  body: Partial<Static<B>>,
  faulty: ReadonlySet<string>,
) => Refusal[] | Promise<Refusal[]>

type Run<P extends TObject, Q extends TObject, A, R extends TSchema> = (
  ctx: Ctx,
  input: Input<Static<P>, Static<Q>, A>,
) => Promise<Static<R> | Answer<Static<R>>>

/** One call among several that share a transaction. */
export type Together<P, Q, B> = { ctx: Ctx; input: Input<P, Q, B> }

type RunTogether<P extends TObject, Q extends TObject, A, R extends TSchema> = (
  db: Db,
  calls: Together<Static<P>, Static<Q>, A>[],
) => Promise<(Static<R> | Answer<Static<R>> | Refusal)[]>

export type Operation = {
  name: string
  method: Method
  path: string
  face: Face
  area: (typeof areas)[number]
  summary: string
  description?: string
  scope: Scope | null
  public: boolean
  effect: Effect
  changesCallers?: true
  perMinute: number
  countedAs?: string
  idempotent: boolean
  params?: TObject
  query?: TObject
  body?: TSchema
  needs: string[]
  maxBodyBytes: number
  upload?: Upload
  ignoresForms?: true
  statuses: number[]
  reply: TSchema
  replyType?: string
  refusals: RefusalMaker[]
  secret: string[]
  whenDatabaseDown?: (requestId: string) => Answer<unknown>
  findFaults?: (ctx: Ctx, body: never, faulty: ReadonlySet<string>) => Refusal[] | Promise<Refusal[]>
  fetch?: (ctx: Ctx, input: Input<never, never, never>) => Promise<Input<unknown, unknown, unknown>>
  prepare?: (ctx: Ctx, input: Input<never, never, never>) => Promise<Input<unknown, unknown, unknown>>
  weigh?: (input: Input<never, never, never>) => number
  isLong?: (input: Input<never, never, never>) => boolean
  keyInInput?: { of: (input: Input<never, never, never>) => string | undefined; rememberMs: number }
  run: (ctx: Ctx, input: Input<never, never, never>) => Promise<unknown>
  /** Acts for many calls at once; one that is refused does not stop the others. */
  runTogether?: (db: Db, calls: Together<never, never, never>[]) => Promise<unknown[]>
}

export class Answer<T> {
  readonly status: number
  readonly body: T
  /** Beside those of every answer; a replayed one has them no more. */
  readonly headers: Record<string, string> | undefined

  constructor(status: number, body: T, headers?: Record<string, string>) {
    this.status = status
    this.body = body
    this.headers = headers
  }
}

export function answer<T>(status: number, body: T, headers?: Record<string, string>): Answer<T> {
  return new Answer(status, body, headers)
}

export const usualPerMinute = 600
const usualMaxBodyBytes = 1024 * 1024

export function operation<
  R extends TSchema,
  P extends TObject = TObject,
  Q extends TObject = TObject,
  B extends TSchema = TSchema,
  A = Static<B>,
>(declared: Declared<P, Q, B, R, A>) {
  const { http, status = 200, ...rest } = declared
  const [method, path] = http.split(' ') as [Method, string]
  const facts = {
    perMinute: usualPerMinute,
    maxBodyBytes: usualMaxBodyBytes,
    ...rest,
    refusals: declared.refusals ?? [],
    secret: declared.secret ?? [],
    needs: declared.needs ?? [],
    public: declared.public ?? false,
    idempotent: declared.idempotent ?? false,
    method,
    path,
    face: path.startsWith('/v3/') ? ('v3' as const) : ('own' as const),
    statuses: [status].flat(),
  }
  // A second call, because only then does TypeScript keep the literal types of the reply.
  return {
    run: (run: Run<P, Q, A, R>): Operation => ({ ...facts, run: run as unknown as Operation['run'] }),
    runTogether: (together: RunTogether<P, Q, A, R>): Operation => {
      const runTogether = together as unknown as NonNullable<Operation['runTogether']>
      return { ...facts, runTogether, run: (ctx, input) => runAlone(runTogether, ctx, input) }
    },
  }
}

async function runAlone(
  runTogether: NonNullable<Operation['runTogether']>,
  ctx: Ctx,
  input: Input<never, never, never>,
): Promise<unknown> {
  const [result] = await runTogether(ctx.db, [{ ctx, input }])
  if (result instanceof Refusal) throw result
  return result
}

export function operationId({ face, name }: Operation): string {
  return face === 'v3' ? `v3.${name}` : name
}

/** The identifier that a mistyped one stands for; the bare name of the action log is that of `/v3` where it has one. */
export function meantOperation(typed: string, known: readonly string[]): string | undefined {
  return known.find((id) => id === `v3.${typed}`) ?? nearest(typed, known)
}

export function changesNothing({ effect }: Operation): boolean {
  return effect === 'read' || effect === 'dry'
}
