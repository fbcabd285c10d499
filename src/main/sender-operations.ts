// Senders, and what stands between the account and the inbox.
import { diagnoseOwn, stopOriginOwn } from '../features/deliverability/api.own.ts'
import type { Surroundings } from '../features/deliverability/set-up.ts'
import * as senders from '../features/senders/api.v3.ts'
import type { CodeNeeds } from '../features/senders/codes.ts'
import type { Operation } from '../kernel/operation.ts'

export function senderOperations(needs: CodeNeeds & Surroundings): Operation[] {
  return [
    senders.listSendersV3,
    senders.createSenderV3(needs),
    senders.updateSenderV3(needs),
    senders.validateSenderV3(needs),
    senders.deleteSenderV3,
    senders.listIpsV3,
    senders.listSenderIpsV3,
    diagnoseOwn(needs),
    stopOriginOwn,
  ]
}
