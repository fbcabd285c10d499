import { Type } from 'typebox'
import { operation } from '../../kernel/operation.ts'
import { confirmationRequired, notFound } from '../../kernel/refusals.ts'
import { closed, orNull, words } from '../../kernel/schema.ts'
import { diagnose } from './diagnose.ts'
import { areas, severities } from './finding.ts'
import type { Surroundings } from './set-up.ts'
import { OriginBody, stopOrigin } from './stop-origin.ts'

const Text = Type.String()

const Request = closed({
  operation: Text,
  method: words(['GET', 'POST', 'PUT']),
  path: Text,
  scope: orNull(Text),
  body: Type.Optional(Type.Unknown()),
  allowed: Type.Boolean({ description: 'Whether the calling key holds the scope' }),
})

const Finding = closed({
  code: Type.String({ description: 'Stable' }),
  severity: words(severities),
  area: words(areas),
  domain: orNull(Type.String({ description: 'The sending domain that it is about' })),
  message: Text,
  evidence: Type.Record(Type.String(), Type.Unknown()),
  action: orNull(Request),
  proof: Request,
})

const Step = closed({
  step: Type.Integer(),
  code: Text,
  done: Type.Boolean(),
  message: Text,
  action: Request,
  proof: Request,
})

export const diagnoseOwn = (around: Surroundings) =>
  operation({
    name: 'deliverability.diagnose',
    http: 'GET /api/v1/deliverability/diagnose',
    area: 'Deliverability',
    summary: 'Say what keeps messages from the inbox, and which request mends it',
    description:
      'Authentication of each domain, reputation, origin of contacts, content and set-up. Each finding has the ' +
      'request that mends it and the one that shows it; states of DNS are those of the last check. A new account ' +
      'gets the steps to its first delivered message.',
    scope: 'analytics.read',
    effect: 'read',
    query: closed({
      domain: Type.Optional(
        Type.String({ maxLength: 1_000, description: 'Leaves out findings about other domains' }),
      ),
    }),
    reply: closed({
      verdict: words(['good', 'attention', 'critical']),
      findings: Type.Array(Finding, { description: 'The worst first' }),
      first_steps: Type.Array(Step, { description: 'Empty once a message has arrived' }),
      window_days: Type.Integer(),
    }),
    refusals: [notFound],
  }).run((ctx, { query: { domain } }) => diagnose(ctx, around, domain))

export const stopOriginOwn = operation({
  name: 'origin.stop',
  http: 'POST /api/v1/deliverability/origins/stop',
  area: 'Deliverability',
  summary: 'Unsubscribe the contacts of a consent source or of an import',
  description:
    'They get no campaigns and automations any more until they are resubscribed; transactional mail still reaches ' +
    'them. Without confirm: true nobody is, and the refusal tells how many would be. At most 5000 at a call: repeat ' +
    'it until is_complete.',
  scope: 'contacts.write',
  effect: 'irreversible',
  body: OriginBody,
  reply: closed({ unsubscribed: Type.Integer(), is_complete: Type.Boolean() }),
  refusals: [notFound, confirmationRequired],
}).run((ctx, { body }) => stopOrigin(ctx, body))
