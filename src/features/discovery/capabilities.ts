import { type Static, Type } from 'typebox'
import { areas, type Operation, operationId, usualPerMinute } from '../../kernel/operation.ts'
import type { Face } from '../../kernel/refusal.ts'
import { closed, words } from '../../kernel/schema.ts'
import { scopeNames, scopes } from '../../kernel/scope.ts'
import { mediaLimits } from '../media/limits.ts'

const Count = Type.Integer({ minimum: 0 })

export const Capabilities = closed({
  product: closed({ name: Type.String(), version: Type.String(), interface_version: Type.String() }),
  interfaces: closed({
    own: Type.String(),
    compatible: Type.String(),
    openapi: Type.String(),
    docs: Type.String(),
    agents: closed({ llms_txt: Type.String(), mcp: Type.String() }),
  }),
  authentication: closed({ headers: Type.Array(Type.String()), key_prefixes: Type.Array(Type.String()) }),
  scopes: Type.Array(closed({ name: words(scopeNames), allows: Type.String() })),
  limits: closed({
    requests_per_minute: closed({ default: Count, operations: Type.Record(Type.String(), Count) }),
    /** Of one process: so many messages at most a crash can send twice. */
    in_flight_messages: Count,
    media: closed({ file_bytes: Count, pixels: Count, frames: Count, images: Count, bytes: Count }),
    page: closed({ smallest: Count, largest: Count, default: Count }),
    idempotency: closed({
      longest_key: Count,
      remembered_hours: Count,
      operations: Type.Array(Type.String()),
    }),
  }),
  areas: Type.Array(words(areas)),
  operations: closed({ own: Count, compatible: Count }),
})

type Described = {
  version: string
  baseUrl: string
  longestIdempotencyKey: number
  rateFactor: number
  inFlightMessages: number
}

/**
 * Kept short on purpose, since agents ask for it first; the operations one by one are in the OpenAPI document.
 * Made once from the declared operations; frozen, so that its text is made once too.
 */
export function describeCapabilities(
  operations: readonly Operation[],
  about: Described,
): Static<typeof Capabilities> {
  const at = (path: string) => `${about.baseUrl}${path}`
  const count = (face: Face) => operations.filter((op) => op.face === face).length
  return Object.freeze({
    product: { name: 'Posthorn', version: about.version, interface_version: '1.0.0' },
    interfaces: {
      own: at('/api/v1'),
      compatible: at('/v3'),
      openapi: at('/openapi.json'),
      docs: at('/docs'),
      agents: { llms_txt: at('/llms.txt'), mcp: at('/mcp') },
    },
    authentication: { headers: ['api-key', 'X-Api-Key'], key_prefixes: ['phk_live_', 'phk_test_'] },
    scopes: scopeNames.map((name) => ({ name, allows: scopes[name] })),
    limits: describeLimits(operations, about),
    areas: areas.filter((area) => operations.some((op) => op.area === area)),
    operations: { own: count('own'), compatible: count('v3') },
  })
}

const { fileBytes, pixels, frames, images, bytes } = mediaLimits
const describeMedia = { file_bytes: fileBytes, pixels, frames, images, bytes }

function describeLimits(operations: readonly Operation[], about: Described) {
  const { longestIdempotencyKey, rateFactor, inFlightMessages } = about
  const special = operations.filter(({ perMinute }) => perMinute !== usualPerMinute)
  return {
    requests_per_minute: {
      default: Math.floor(usualPerMinute * rateFactor),
      operations: Object.fromEntries(
        special.map((op) => [operationId(op), Math.floor(op.perMinute * rateFactor)]),
      ),
    },
    in_flight_messages: inFlightMessages,
    media: describeMedia,
    page: { smallest: 1, largest: 200, default: 50 },
    idempotency: {
      longest_key: longestIdempotencyKey,
      remembered_hours: 24,
      operations: operations.filter(({ idempotent }) => idempotent).map(operationId),
    },
  }
}
