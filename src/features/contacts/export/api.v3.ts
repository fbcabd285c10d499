import { Type } from 'typebox'
import { operation } from '../../../kernel/operation.ts'
import { notFound } from '../../../kernel/refusals.ts'
import { closed } from '../../../kernel/schema.ts'
import { type CallNeeds, readUrl, refuseUncallable } from '../../../kernel/v3/url.ts'
import { ExportBody, startExport } from './start-export.ts'

export const exportContactsV3 = ({ checkTarget }: CallNeeds) =>
  operation({
    name: 'contact.export_all',
    http: 'POST /v3/contacts/export',
    needs: ['customContactFilter'],
    area: 'Contacts',
    summary: 'Export contacts as a CSV file, in the background',
    description:
      'GET /v3/processes/{processId} shows export_url when the file is ready. Whoever knows that address can fetch ' +
      'it, without a key, for 7 days; then it is deleted.',
    // It changes nothing but gives everybody away: a key that may read contacts may export them.
    scope: 'contacts.read',
    effect: 'change',
    body: ExportBody,
    secret: ['notifyUrl'],
    status: 202,
    reply: closed({ processId: Type.Integer() }),
    refusals: [notFound],
    prepare: async (_ctx, input) => {
      await refuseUncallable(checkTarget, readUrl(input.body.notifyUrl, 'notifyUrl'), 'notifyUrl')
      return input
    },
  }).run(async (ctx, { body }) => ({ processId: await startExport(ctx, body) }))
