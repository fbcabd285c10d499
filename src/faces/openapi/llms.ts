// What a language model needs to know to use this service, in one page of text.
import { agentGuide } from '../../features/discovery/guide.ts'
import { areas, type Operation, operationId } from '../../kernel/operation.ts'
import { scopeNames, scopes } from '../../kernel/scope.ts'
import type { About } from './document.ts'

export function llmsText(operations: readonly Operation[], { baseUrl }: About): string {
  const sections = areas
    .map((area) => ({ area, own: operations.filter((op) => op.area === area) }))
    .filter(({ own }) => own.length > 0)
    .map(({ area, own }) => `## ${area}\n\n${own.map(lineOf).join('\n')}`)
  return `${[head(baseUrl), ...sections, scopeSection()].join('\n\n')}\n`
}

function head(baseUrl: string): string {
  return [
    '# Posthorn',
    '',
    '> An email delivery service. Send the key in the header `api-key`. JSON over HTTP.',
    '',
    `- Base address: ${baseUrl}`,
    `- [OpenAPI](${baseUrl}/openapi.json): every operation with its schemas`,
    `- [Capabilities](${baseUrl}/api/v1/capabilities): limits, scopes and areas, no key needed`,
    `- Agent tools: Model Context Protocol at ${baseUrl}/mcp, one tool per \`/api/v1\` operation`,
    '- Errors of `/api/v1`: `{"error": {code, message, status, param, details, hint, action, retryable}}`.',
    '  `details` lists every fault at once; `hint` and `action` say how to mend it.',
    '- Lists: `{data, next_cursor}`; call again with `cursor` set to `next_cursor` and the same filters.',
    '- Retry a POST safely with the header `Idempotency-Key` where the operation takes it.',
    ...agentGuide(baseUrl).map((paragraph) => `- ${paragraph}`),
  ].join('\n')
}

function lineOf(op: Operation): string {
  const duties = [
    operationId(op),
    op.public ? 'no key' : op.scope === null ? 'any key' : `scope ${op.scope}`,
    op.public ? undefined : `${op.perMinute}/min`,
    op.effect === 'irreversible' ? 'cannot be undone' : op.effect === 'dry' ? 'changes nothing' : undefined,
    op.idempotent ? 'Idempotency-Key' : undefined,
  ].filter(Boolean)
  return `- \`${op.method} ${op.path}\` ${op.summary} (${duties.join(', ')})`
}

function scopeSection(): string {
  return `## Scopes\n\n${scopeNames.map((name) => `- \`${name}\`: ${scopes[name]}`).join('\n')}`
}
