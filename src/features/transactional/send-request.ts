// The body of a send, shared by the send itself and by its dry run.
import { type Static, Type } from 'typebox'
import { contentId, contentType, line, tag } from '../../kernel/patterns.ts'
import { closed, loosened, Time } from '../../kernel/schema.ts'
import { longestName, longestSubject, metadataLimits } from '../messages/model.ts'

const Mailbox = Type.Union([
  Type.String({ format: 'mailbox', maxLength: 600 }),
  closed({
    email: Type.String({ format: 'email', maxLength: 320 }),
    name: Type.Optional(Type.String({ maxLength: longestName, pattern: line })),
  }),
])

// Checked by the act, which has a code of its own for a bad recipient.
const Recipient = Type.Union([
  Type.String({ maxLength: 600 }),
  closed({
    email: Type.String({ maxLength: 320 }),
    name: Type.Optional(Type.String({ maxLength: longestName })),
  }),
])

const Attachment = closed({
  filename: Type.String({ minLength: 1, maxLength: 255, pattern: line }),
  content: Type.String({ description: 'Base64' }),
  content_type: Type.Optional(Type.String({ pattern: contentType, maxLength: 255 })),
  content_id: Type.Optional(Type.String({ pattern: contentId, maxLength: 200 })),
})

export const SendRequest = closed({
  from: Type.Optional(Mailbox),
  to: Recipient,
  subject: Type.Optional(Type.String({ maxLength: longestSubject, pattern: line })),
  html: Type.Optional(Type.String()),
  text: Type.Optional(Type.String()),
  template_id: Type.Optional(Type.Integer({ minimum: 1, maximum: Number.MAX_SAFE_INTEGER })),
  params: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
  reply_to: Type.Optional(Mailbox),
  headers: Type.Optional(Type.Record(Type.String(), Type.String())),
  attachments: Type.Optional(Type.Array(Attachment, { maxItems: 50 })),
  tag: Type.Optional(Type.String({ pattern: tag })),
  scheduled_at: Type.Optional(Time),
  metadata: Type.Optional(
    Type.Record(
      Type.String({ maxLength: metadataLimits.name }),
      Type.String({ maxLength: metadataLimits.value }),
    ),
  ),
  track_opens: Type.Optional(Type.Boolean()),
  track_clicks: Type.Optional(Type.Boolean()),
})

export type SendRequest = Static<typeof SendRequest>

/** What a dry run takes: any value of the right type, and nothing is required. */
export const SendDraft = loosened<Partial<SendRequest>>(SendRequest)

export type SendDraft = Partial<SendRequest>

/** About how much of it is stored. */
export const octetsOf = ({ html = '', text = '', attachments = [] }: SendDraft): number =>
  attachments.reduce((sum, { content }) => sum + content.length, html.length + text.length)

/** Contents never stand in the action log. */
export const secretFields = ['subject', 'html', 'text', 'params', 'attachments', 'headers', 'metadata']

export const maxSendBytes = 30 * 1024 * 1024
