import { Type } from 'typebox'
import { operation } from '../../kernel/operation.ts'
import { conflict, notFound } from '../../kernel/refusals.ts'
import { closed, words } from '../../kernel/schema.ts'
import type { OtherMessages } from '../messages/read-messages.ts'
import { cancelMessageById } from './cancel-message.ts'

export const cancelMessage = (others: OtherMessages) =>
  operation({
    name: 'email.cancel',
    http: 'POST /api/v1/messages/{id}/cancel',
    area: 'Messages',
    summary: 'Take back a message that is queued or held',
    description:
      'One that waits for its scheduled_at, its turn or its next try, or is held. What is being sent or has left is ' +
      'not called back. Asked for again it answers the same.',
    scope: 'email.send',
    effect: 'irreversible',
    params: closed({ id: Type.String({ maxLength: 100 }) }),
    reply: closed({ id: Type.String(), status: words(['cancelled']) }),
    refusals: [notFound, conflict],
  }).run((ctx, { params }) => cancelMessageById(others, ctx, params.id))
