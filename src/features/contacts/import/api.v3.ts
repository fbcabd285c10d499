import { Type } from 'typebox'
import { operation } from '../../../kernel/operation.ts'
import { notFound } from '../../../kernel/refusals.ts'
import { closed } from '../../../kernel/schema.ts'
import { type CallNeeds, readUrl, refuseUncallable } from '../../../kernel/v3/url.ts'
import { mostRows, tooManyRows } from './refusals.ts'
import { ImportBody, startImport } from './start-import.ts'

export const importContactsV3 = ({ checkTarget }: CallNeeds) =>
  operation({
    name: 'contact.import',
    http: 'POST /v3/contacts/import',
    area: 'Contacts',
    summary: 'Import contacts in bulk, in the background',
    description:
      `At most ${mostRows} rows of fileBody, fileUrl or jsonBody. Columns CONSENT_DATE (ISO 8601 or d/m/Y) and ` +
      'CONSENT_SOURCE record consent. Other columns must be attributes of the account, made before with ' +
      'POST /v3/contacts/attributes/normal/{name}; a column that is none is not kept and is named in ignoredColumns ' +
      'of the process. GET /v3/processes/{processId} tells how far it is; rows that are faulty are named there and ' +
      'the others are kept.',
    scope: 'contacts.write',
    effect: 'change',
    body: ImportBody,
    maxBodyBytes: 20 * 1024 * 1024,
    secret: ['fileBody', 'fileUrl', 'jsonBody', 'notifyUrl'],
    status: 202,
    reply: closed({ processId: Type.Integer() }),
    refusals: [tooManyRows, notFound],
    prepare: async (_ctx, input) => {
      await refuseUncallable(checkTarget, readUrl(input.body.notifyUrl, 'notifyUrl'), 'notifyUrl')
      return input
    },
  }).run(async (ctx, { body }) => ({ processId: await startImport(ctx, body) }))
