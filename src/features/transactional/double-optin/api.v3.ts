import { Type } from 'typebox'
import { answer, type Operation, operation } from '../../../kernel/operation.ts'
import { prepared } from '../../../kernel/prepared.ts'
import {
  dailyCapReached,
  monthlyQuotaReached,
  senderDomainNotAllowed,
  senderUnverified,
} from '../../accounts/usage/refusals.ts'
import { contentMissing, recipientSuppressed, templateInvalid } from '../../messages/refusals.ts'
import { type AttachedFiles, fetchFilesOf } from '../attached-file.ts'
import { askOptin, OptinBody, type OptinNeeds } from './ask-optin.ts'
import { optinLimited } from './limit.ts'

const attached = prepared<AttachedFiles>()

export const askOptinV3 = (needs: OptinNeeds): Operation =>
  operation({
    name: 'contact.double_optin',
    http: 'POST /v3/contacts/doubleOptinConfirmation',
    needs: ['email', 'includeListIds', 'templateId', 'redirectionUrl'],
    area: 'Contacts',
    summary: 'Ask a person by email to confirm their subscription',
    description:
      'The template must be active, have the tag optin and contain {{ doubleoptin }}. The link works for 30 days; ' +
      'the contact is made or changed, with the consent, when the person confirms. 201 for an address that is not ' +
      'yet a contact, 204 otherwise. An address is asked three times an hour and ten times a day at most. ' +
      'A key needs contacts.write alone, although this sends a message.',
    scope: 'contacts.write',
    effect: 'irreversible',
    body: OptinBody,
    prepare: async (ctx, input) => {
      const ids = input.body.templateId ? [input.body.templateId] : []
      return attached.put(input, await fetchFilesOf(ctx, needs.fetchAttachment, ids))
    },
    secret: ['attributes'],
    status: [201, 204],
    reply: Type.Null(),
    refusals: [
      optinLimited,
      templateInvalid,
      contentMissing,
      recipientSuppressed,
      senderDomainNotAllowed,
      senderUnverified,
      dailyCapReached,
      monthlyQuotaReached,
    ],
  }).run(async (ctx, input) => {
    const isNew = await askOptin(ctx, input.body, needs, attached.take(input))
    return answer(isNew ? 201 : 204, null)
  })
