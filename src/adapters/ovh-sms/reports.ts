// What OVH calls the address of the service with, in the query: reports of delivery, and answers.
// https://help.ovhcloud.com/csm/fr-sms-users (the codes ptt and DLR)
import type { SmsReport } from '../../kernel/ports.ts'

type Query = Record<string, string | undefined>
type Status = Extract<SmsReport, { kind: 'status' }>

// ptt; anything else is a failure that may be over tomorrow, when dlr says that it is one.
const types = new Map<string, Status['type']>([
  ['1', 'sent'],
  ['2', 'sent'],
  ['3', 'accepted'],
  ['4', 'delivered'],
  ['20', 'rejected'],
  ['23', 'hard_bounce'],
  ['27', 'hard_bounce'],
  ['28', 'rejected'],
  ['29', 'rejected'],
  ['33', 'rejected'],
  ['76', 'rejected'],
  ['202', 'rejected'],
])

const dlrTypes = new Map<string, Status['type']>([
  ['1', 'delivered'],
  ['2', 'soft_bounce'],
  ['16', 'rejected'],
])

/** Nothing when the call says nothing of either kind. */
export function readOvhReport(query: Query, now: Date): SmsReport | undefined {
  const { id = '', ptt = '', description: dlr = '', descriptionDlr } = query
  const at = timeOf(query.date) ?? now
  if (/^\d{1,20}$/.test(id) && (ptt !== '' || dlr !== '')) {
    const type = types.get(ptt) ?? dlrTypes.get(dlr) ?? 'sent'
    const description = `ptt ${ptt}, ${descriptionDlr ?? dlr}`
    return { kind: 'status', type, messageRef: null, upstreamId: id, at, description }
  }
  const from = query.senderid ?? query.sender ?? query.from ?? query.number
  const text = query.message ?? query.text
  if (from === undefined || text === undefined) return undefined
  return { kind: 'reply', from, text, upstreamId: null, at }
}

// One without a zone is in nobody knows which.
function timeOf(text: string | undefined): Date | undefined {
  if (text === undefined || !/(Z|[+-]\d{2}:?\d{2})$/.test(text)) return undefined
  const time = new Date(text)
  return Number.isNaN(time.getTime()) ? undefined : time
}
