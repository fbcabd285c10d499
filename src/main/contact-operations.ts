// Contacts and all that hangs on them.
import { getListV3 } from '../features/campaigns/list.api.v3.ts'
import * as attributes from '../features/contacts/attributes/api.v3.ts'
import * as contacts from '../features/contacts/contacts/api.v3.ts'
import { exportContactsV3 } from '../features/contacts/export/api.v3.ts'
import * as folders from '../features/contacts/folders/api.v3.ts'
import { importContactsV3 } from '../features/contacts/import/api.v3.ts'
import { batchContactsV3 } from '../features/contacts/import/batch.api.v3.ts'
import * as lists from '../features/contacts/lists/api.v3.ts'
import { getProcessV3, listProcessesV3 } from '../features/contacts/processes/api.v3.ts'
import * as segments from '../features/contacts/segments/api.v3.ts'
import { contactSegmentsV3 } from '../features/contacts/segments/contact-segments.api.v3.ts'
import { checkUnsubscribeV3, confirmUnsubscribeV3 } from '../features/contacts/unsubscribe/api.v3.ts'
import type { FindUnsubscribeKeys } from '../features/contacts/unsubscribe/tokens.ts'
import { eraseContactOwn, exportContactOwn } from '../features/privacy/api.own.ts'
import { askOptinV3 } from '../features/transactional/double-optin/api.v3.ts'
import type { FindOptinKeys } from '../features/transactional/double-optin/tokens.ts'
import type { FetchAttachment } from '../features/transactional/v3/attachments.ts'
import type { Operation } from '../kernel/operation.ts'
import type { CallNeeds } from '../kernel/v3/url.ts'

export type ContactNeeds = {
  baseUrl: string
  unsubscribeKeys: FindUnsubscribeKeys
  optinKeys: FindOptinKeys
  fetchAttachment: FetchAttachment
  webhooks: CallNeeds
}

export function contactOperations(needs: ContactNeeds): Operation[] {
  const { unsubscribeKeys } = needs
  return [
    ...Object.values(contacts),
    askOptinV3(needs),
    importContactsV3(needs.webhooks),
    exportContactsV3(needs.webhooks),
    batchContactsV3,
    ...Object.values(attributes),
    ...Object.values(lists),
    getListV3,
    ...Object.values(folders),
    listProcessesV3(needs.baseUrl),
    getProcessV3(needs.baseUrl),
    ...Object.values(segments),
    ...contactSegmentsV3,
    checkUnsubscribeV3(unsubscribeKeys),
    confirmUnsubscribeV3(unsubscribeKeys),
    eraseContactOwn,
    exportContactOwn,
  ]
}
