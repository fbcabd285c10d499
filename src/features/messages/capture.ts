// The transport that keeps everything: nothing leaves the machine, each message can be read in the sandbox.
import type { Db } from '../../kernel/db.ts'
import { newUuid } from '../../kernel/id.ts'
import type { Transport } from '../../kernel/ports.ts'
import { insertCaptured } from './sandbox-queries.ts'

export function captureTransport(db: Db, now: () => Date): Transport {
  return {
    kind: 'capture',
    signs: false,
    takesMarketing: true,
    concurrency: 20,
    async send({ id, accountId, recipient, raw }) {
      // The same message captured twice after a crash is one message in the sandbox.
      await insertCaptured(db, {
        id: newUuid(),
        accountId,
        messageId: id,
        recipient: recipient.toLowerCase(),
        raw,
        at: now(),
      })
      return { kind: 'accepted', upstreamId: null, response: '250 2.0.0 captured' }
    },
    verify: async () => {},
    close: async () => {},
  }
}
