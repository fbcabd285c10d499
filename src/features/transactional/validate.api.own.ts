import { Type } from 'typebox'
import { operation } from '../../kernel/operation.ts'
import { closed, orNull, Warning, words } from '../../kernel/schema.ts'
import { readDraft } from './find-blocking.ts'
import { maxSendBytes, SendDraft, secretFields } from './send-request.ts'
import { type ValidateNeeds, validateSend } from './validate-send.ts'

const Text = Type.String()

export const validateMessage = (needs: ValidateNeeds) =>
  operation({
    name: 'message.validate',
    http: 'POST /api/v1/messages/validate',
    area: 'Messages',
    summary: 'Say what a send would do, without sending',
    description:
      'Finds everything that a send would refuse, and warns of what hurts delivery. Changes nothing. Takes the ' +
      'body of a send, also one that is not complete.',
    scope: 'email.send',
    effect: 'dry',
    body: SendDraft,
    maxBodyBytes: maxSendBytes,
    findFaults: async (ctx, body, faulty) => (await readDraft(ctx, body, faulty)).refusals,
    secret: secretFields,
    reply: closed({
      verdict: words(['ok', 'warnings', 'blocked']),
      blocking: Type.Array(Warning),
      warnings: Type.Array(Warning),
      rendered: orNull(closed({ subject: Text, html: orNull(Text), text: orNull(Text) })),
      estimated_size_bytes: Type.Integer(),
    }),
  }).run((ctx, { body }) => validateSend(ctx, needs, body))
