// Model Context Protocol over streamable HTTP, without sessions: every request stands alone,
// and a tool call passes the same gates as a request over HTTP.
import type { IncomingMessage, ServerResponse } from 'node:http'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { createMcpHandler, Server } from '@modelcontextprotocol/server'
import { agentGuide } from '../../features/discovery/guide.ts'
import { admit, type Call } from '../../gates/admit.ts'
import type { Gates } from '../../gates/gates.ts'
import { perform } from '../../gates/perform.ts'
import { asRefusal } from '../../gates/reply.ts'
import type { Operation } from '../../kernel/operation.ts'
import { ownError, statusOf } from '../../kernel/refusal.ts'
import { notFound } from '../../kernel/refusals.ts'
import type { Scope } from '../../kernel/scope.ts'
import { describeTool, inputOf, toolName, toolsFor } from './tools.ts'

export type McpNeeds = { gates: Gates; operations: Operation[]; version: string; baseUrl: string }
export type McpRequest = { call: Call; scopes: Scope[] | null; raw: IncomingMessage; body: unknown }
export type AnswerMcp = (request: McpRequest, response: ServerResponse) => Promise<void>

export function openMcp(needs: McpNeeds): AnswerMcp {
  return async ({ call, scopes, raw, body }, response) => {
    const handler = createMcpHandler(() => serverFor(needs, call, scopes))
    await toNodeHandler(handler)(raw, response, body)
  }
}

const opening =
  'Email delivery. Dry runs change nothing; an error says what is wrong and what to do next. The tool of the operation ' +
  'campaign.send is campaign_send.'

function serverFor(needs: McpNeeds, call: Call, scopes: Scope[] | null): Server {
  const { gates, operations, version, baseUrl } = needs
  const server = new Server(
    { name: 'posthorn', version },
    {
      capabilities: { tools: {} },
      instructions: [opening, ...agentGuide(baseUrl)].join('\n\n'),
    },
  )
  server.setRequestHandler('tools/list', () => ({ tools: toolsFor(operations, scopes).map(describeTool) }))
  server.setRequestHandler('tools/call', ({ params }) => {
    const op = operations.find((one) => one.face === 'own' && toolName(one) === params.name)
    return callTool(gates, op, params.arguments ?? {}, call)
  })
  return server
}

async function callTool(gates: Gates, op: Operation | undefined, given: Record<string, unknown>, call: Call) {
  try {
    if (!op)
      throw notFound({
        message: 'There is no such tool.',
        hint: 'tools/list names all that this key may call.',
      })
    const { idempotencyKey, ...input } = inputOf(op, given)
    const { body } = await perform(gates, await admit(gates, op, call), input, idempotencyKey)
    const structuredContent = body === '' ? {} : op.replyType ? { text: body } : JSON.parse(body)
    return { content: [{ type: 'text' as const, text: body }], structuredContent }
  } catch (error) {
    const refusal = asRefusal(error, gates.log, { requestId: call.requestId })
    const told = ownError(refusal, statusOf(refusal.declaration.kind, 'own'), call.requestId)
    return {
      isError: true,
      content: [{ type: 'text' as const, text: JSON.stringify(told) }],
      structuredContent: told,
    }
  }
}
