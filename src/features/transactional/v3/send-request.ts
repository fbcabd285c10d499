// The body of the provider's send call. Most of it is checked by the act, which answers in the provider's words.
import { type Static, Type } from 'typebox'
import { closed } from '../../../kernel/schema.ts'
import { optional, optionalMap } from '../../../kernel/v3/lenient.ts'

const Text = Type.Optional(Type.String())

export const Mailbox = closed({ email: Text, name: Text })
const Mailboxes = optional(Type.Array(Mailbox))

const ReplyTo = Type.Optional(Type.Union([Type.Null(), Mailbox, Type.Array(Mailbox, { maxItems: 1 })]))

const changeable = {
  to: Mailboxes,
  cc: Mailboxes,
  bcc: Mailboxes,
  replyTo: ReplyTo,
  subject: Text,
  htmlContent: Text,
  textContent: Text,
  templateId: Type.Optional(Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
  params: optionalMap(Type.Unknown()),
  headers: optionalMap(Type.String()),
}

export const Version = closed(changeable)

export const SenderGiven = closed({ email: Text, name: Text, id: Type.Optional(Type.Integer()) })

export const AttachmentGiven = closed({
  url: Text,
  content: Type.Optional(Type.String({ description: 'Base64' })),
  name: Text,
})

export const SendBody = closed({
  sender: optional(SenderGiven),
  ...changeable,
  attachment: optional(Type.Array(AttachmentGiven)),
  tags: optional(Type.Array(Type.String())),
  scheduledAt: Type.Optional(Type.String({ description: 'ISO 8601, at most 30 days ahead' })),
  batchId: Type.Optional(Type.String({ description: 'A UUID that groups scheduled sends' })),
  messageVersions: optional(Type.Array(Version)),
})

export type SendBody = Static<typeof SendBody>
export type Version = Static<typeof Version>
export type Mailbox = Static<typeof Mailbox>
export type SenderGiven = Static<typeof SenderGiven>
export type AttachmentGiven = Static<typeof AttachmentGiven>

/** Contents never stand in the action log. */
export const secretFields = [
  'subject',
  'htmlContent',
  'textContent',
  'params',
  'headers',
  'attachment',
  'messageVersions',
]
