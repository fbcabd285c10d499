// Model Context Protocol over streamable HTTP, without sessions: every request stands alone,
// and a tool call passes the same gates as a request over HTTP.
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Server } from '@modelcontextprotocol/server'
import { agentGuide } from '../../features/discovery/guide.ts'
import { admit, type Call } from '../../gates/admit.ts'
import type { Gates } from '../../gates/gates.ts'
import { perform } from '../../gates/perform.ts'
import { asRefusal } from '../../gates/reply.ts'
import { nearest } from '../../kernel/nearest.ts'
import type { Operation } from '../../kernel/operation.ts'
import { ownError, statusOf } from '../../kernel/refusal.ts'
import { notFound } from '../../kernel/refusals.ts'
import type { Scope } from '../../kernel/scope.ts'
import { describeTool, inputOf, toolName, toolsFor } from './tools.ts'

export type McpNeeds = { gates: Gates; operations: Operation[]; version: string; baseUrl: string }
export type McpRequest = { call: Call; scopes: Scope[] | null; raw: IncomingMessage; body: unknown }
export type AnswerMcp = (request: McpRequest, response: ServerResponse) => Promise<void>

export function openMcp(needs: McpNeeds, load = loadLibrary): AnswerMcp {
  let loaded: Promise<Library> | undefined
  return async ({ call, scopes, raw, body }, response) => {
    if (isBareInitialize(body)) return refuseInitialize(response, body.id)
    try {
      loaded ??= load()
      const { createMcpHandler, Server, toNodeHandler } = await loaded
      const handler = createMcpHandler(() => serverFor(needs, Server, { call, scopes }))
      await toNodeHandler(handler)(raw, response, body)
    } catch (error) {
      // The next call tries again, and nobody else answers this one: the response is ours alone.
      loaded = undefined
      asRefusal(error, needs.gates.log, { requestId: call.requestId })
      if (response.headersSent) response.destroy()
      else refuse(response, 500, { id: null, error: { code: -32603, message: 'Internal server error' } })
    }
  }
}

type Library = Awaited<ReturnType<typeof loadLibrary>>

// With the first agent: many installations never see one, and the library takes 15 MB. This file itself is there from
// the start, since a build under a running service takes away the files that it has not read yet.
async function loadLibrary() {
  const [{ toNodeHandler }, { createMcpHandler, Server }] = await Promise.all([
    import('@modelcontextprotocol/node'),
    import('@modelcontextprotocol/server'),
  ])
  return { toNodeHandler, createMcpHandler, Server }
}

type Message = { id: string | number | null; method: string; params?: Record<string, unknown> }

/** The library would tell the faults of its own schema, as one long text. */
function isBareInitialize(body: unknown): body is Message {
  const { id, method, params } = (body ?? {}) as Partial<Message>
  if (method !== 'initialize' || id === undefined) return false
  const client = params?.clientInfo as { name?: unknown; version?: unknown } | undefined
  const texts = [params?.protocolVersion, client?.name, client?.version]
  return texts.some((text) => typeof text !== 'string') || typeof params?.capabilities !== 'object'
}

function refuseInitialize(response: ServerResponse, id: Message['id']): void {
  const message =
    'initialize takes params: protocolVersion (such as "2025-06-18"), capabilities (may be {}) and clientInfo ' +
    'with name and version.'
  refuse(response, 400, { id, error: { code: -32602, message } })
}

type Refused = { id: Message['id']; error: { code: number; message: string } }

function refuse(response: ServerResponse, status: number, refused: Refused): void {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ jsonrpc: '2.0', ...refused }))
}

const opening =
  'Email delivery. Dry runs change nothing; an error says what is wrong and what to do next. The tool of the ' +
  'operation campaign.send is campaign_send.'

type Asking = { call: Call; scopes: Scope[] | null }

function serverFor(needs: McpNeeds, Maker: Library['Server'], { call, scopes }: Asking): Server {
  const { gates, operations, version, baseUrl } = needs
  const server = new Maker(
    { name: 'posthorn', version },
    {
      capabilities: { tools: {} },
      instructions: [opening, ...agentGuide(baseUrl)].join('\n\n'),
    },
  )
  server.setRequestHandler('tools/list', () => ({ tools: toolsFor(operations, scopes).map(describeTool) }))
  server.setRequestHandler('tools/call', ({ params }) =>
    callTool(gates, () => operationOf(operations, params.name), params.arguments ?? {}, call),
  )
  return server
}

function operationOf(operations: readonly Operation[], name: string): Operation {
  const own = operations.filter(({ face }) => face === 'own')
  const found = own.find((op) => toolName(op) === name)
  if (found) return found
  const meant = nearest(name, own.map(toolName))
  throw notFound({
    message: `There is no such tool.${meant ? ` Did you mean ${meant}?` : ''}`,
    hint: 'tools/list names all that this key may call.',
  })
}

async function callTool(gates: Gates, find: () => Operation, given: Record<string, unknown>, call: Call) {
  try {
    const op = find()
    const { idempotencyKey, ...input } = inputOf(op, given)
    const { body, replayed } = await perform(gates, await admit(gates, op, call), input, idempotencyKey)
    const structuredContent = body === '' ? {} : op.replyType ? { text: body } : JSON.parse(body)
    const answer = { content: [{ type: 'text' as const, text: body }], structuredContent }
    return replayed ? { ...answer, _meta: { idempotency_replayed: true } } : answer
  } catch (error) {
    const refusal = asRefusal(error, gates.log, { requestId: call.requestId })
    const told = ownError(refusal, statusOf(refusal.declaration.kind, 'own'), call.requestId)
    // What is a header over HTTP is an argument here.
    if (told.error.param === 'Idempotency-Key') told.error.param = 'idempotency_key'
    return {
      isError: true,
      content: [{ type: 'text' as const, text: JSON.stringify(told) }],
      structuredContent: told,
    }
  }
}
