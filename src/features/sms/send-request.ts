// The body of the provider's send call, read into what is sent.
import { type Static, Type } from 'typebox'
import { invalidParameter, missingParameter } from '../../kernel/refusals.ts'
import { closed } from '../../kernel/schema.ts'
import { given, oneLine, optional, optionalMap, storable } from '../../kernel/v3/lenient.ts'
import { readRecipient, readSender } from './numbers.ts'
import type { SmsType } from './queries.ts'

const Text = Type.Optional(Type.String())

export const SendBody = closed({
  sender: Type.Optional(
    Type.String({ description: 'Up to 11 letters and digits; outside France up to 15 digits' }),
  ),
  recipient: Type.Optional(Type.String({ description: 'A mobile number with its country code' })),
  content: Type.Optional(Type.String({ description: 'Outside GSM-7 it is sent, and counted, as UCS-2' })),
  type: Type.Optional(Type.String({ description: 'transactional (when absent) or marketing' })),
  tag: optional(Type.Union([Type.String(), Type.Array(Type.String())])),
  organisationPrefix: Text,
  templateId: optional(Type.Number()),
  webUrl: Type.Optional(Type.String({ description: 'Not called: make a webhook of the channel sms' })),
  headers: optionalMap(Type.String()),
})

export type SendBody = Static<typeof SendBody>

/** Neither contents nor whom they are for stand in the action log. */
export const secretFields = ['recipient', 'content', 'organisationPrefix', 'headers']

export type Asked = {
  sender: string
  recipient: string
  content: string
  type: SmsType
  tags: string[]
}

export function readSend(body: SendBody): Asked {
  const recipient = readRecipient(body.recipient)
  return {
    sender: readSender(body.sender, recipient),
    recipient: recipient.digits,
    content: readContent(body),
    type: readType(body.type),
    tags: readTags(body.tag),
  }
}

function readContent({ content, organisationPrefix, templateId }: SendBody): string {
  if (typeof templateId === 'number')
    throw invalidParameter({ message: 'There are no SMS templates here: send content', param: 'templateId' })
  const text = given(content)
  if (text === undefined) throw missingParameter({ message: 'content is missing', param: 'content' })
  const prefix = given(organisationPrefix)
  // Composed characters: a letter with its accent apart is in no SMS alphabet.
  return storable(prefix === undefined ? text : `${oneLine(prefix)}: ${text}`).normalize('NFC')
}

function readType(type: string | undefined): SmsType {
  const asked = given(type)?.trim().toLowerCase() ?? 'transactional'
  if (asked === 'transactional' || asked === 'marketing') return asked
  throw invalidParameter({ message: 'type must be transactional or marketing', param: 'type' })
}

const mostTags = 10
const longestTag = 255

function readTags(tag: SendBody['tag']): string[] {
  const tags = [...new Set([tag ?? []].flat().map(oneLine))].filter((one) => one !== '')
  if (tags.length <= mostTags && tags.every((one) => one.length <= longestTag)) return tags
  throw invalidParameter({
    message: `tag must be at most ${mostTags} tags of at most ${longestTag} characters`,
    param: 'tag',
  })
}
