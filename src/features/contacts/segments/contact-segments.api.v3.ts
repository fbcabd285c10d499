// Segments where the provider lists them, under contacts: each operation a second time, at another path.
import type { Operation } from '../../../kernel/operation.ts'
import {
  createSegmentV3,
  deleteSegmentV3,
  getSegmentV3,
  listSegmentContactsV3,
  updateSegmentV3,
} from './api.v3.ts'

function underContacts(op: Operation): Operation {
  const path = op.path.replace('/v3/segments', '/v3/contacts/segments')
  return {
    ...op,
    path,
    name: `contact.${op.name.replace('.', '_')}`,
    summary: `${op.summary} (as ${op.path})`,
  }
}

export const contactSegmentsV3 = [
  createSegmentV3,
  getSegmentV3,
  updateSegmentV3,
  deleteSegmentV3,
  listSegmentContactsV3,
].map(underContacts)
