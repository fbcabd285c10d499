// The files of exports. No key: their address is the secret.
import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { findExportFile, pagesOf } from '../../features/contacts/export/read-file.ts'
import type { Gates } from '../../gates/gates.ts'
import { notFound } from '../../kernel/refusals.ts'

export function serveExports(app: FastifyInstance, { gates }: { gates: Gates }): void {
  app.get<{ Params: { token: string } }>('/exports/:token', async ({ params, method }, reply) => {
    const file = await findExportFile(gates.db, params.token, gates.now())
    if (!file) throw notFound({ message: 'There is no such file, or it has been deleted.' })
    reply.headers({
      'content-type': 'text/csv; charset=utf-8',
      'content-disposition': `attachment; filename="contacts-${file.id}.csv"`,
      'x-content-type-options': 'nosniff',
      'cache-control': 'no-store, private',
      'referrer-policy': 'no-referrer',
      'x-robots-tag': 'noindex, nofollow',
    })
    return reply.send(method === 'HEAD' ? '' : Readable.from(pagesOf(gates.db, file)))
  })
}
