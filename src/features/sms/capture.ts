// The transport that keeps every SMS: nothing leaves the machine, each can be read in the sandbox.
import type { Db } from '../../kernel/db.ts'
import type { SmsTransport } from '../../kernel/ports.ts'
import { markCaptured } from './queries.ts'

export function captureSms(db: Db, now: () => Date): SmsTransport {
  return {
    kind: 'capture',
    concurrency: 10,
    shortestLifeSeconds: 0,
    async send({ accountId, id }) {
      await markCaptured(db, accountId, id, now())
      return { kind: 'accepted', upstreamId: null }
    },
    verify: async () => {},
    close: async () => {},
  }
}
