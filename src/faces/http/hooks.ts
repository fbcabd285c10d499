// Where upstreams report what became of messages. No key: each report is verified as its provider prescribes.
import type { FastifyInstance } from 'fastify'
import { type Feedback, recordFeedback } from '../../features/messages/record-feedback.ts'
import type { Gates } from '../../gates/gates.ts'

/** Gives what a notification says, or null when there is nothing to record; refuses one that cannot be trusted. */
export type ReadFeedback = (body: Buffer, now: Date) => Promise<Feedback | null>

export type HookFaceNeeds = { gates: Gates; hooks: Record<string, ReadFeedback> }

const largestBody = 256 * 1024

export async function serveHooks(app: FastifyInstance, { gates, hooks }: HookFaceNeeds): Promise<void> {
  await app.register(async (scope) => {
    scope.removeAllContentTypeParsers()
    // Signatures are over the octets as they came; and SNS announces its JSON as plain text.
    scope.addContentTypeParser(
      /^(text\/plain|application\/json)\s*(;|$)/i,
      { parseAs: 'buffer' },
      async (_request: unknown, raw: Buffer) => raw,
    )
    for (const [name, read] of Object.entries(hooks)) {
      scope.post<{ Body: Buffer | undefined }>(
        `/hooks/${name}`,
        { bodyLimit: largestBody },
        async (request, reply) => {
          const feedback = await read(request.body ?? Buffer.alloc(0), gates.now())
          if (feedback) await recordFeedback(gates, feedback)
          return reply.code(200).send()
        },
      )
    }
  })
}
