// A large body is read once there is room for it: who sends many of them at once would otherwise fill the memory of the
// process, and slowly is enough, since a body has two minutes to arrive.
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Gates } from '../../gates/gates.ts'
import { type Caller, nobody } from '../../kernel/ctx.ts'
import { largeBytes } from '../../kernel/room.ts'

type Asking = { request: FastifyRequest; reply: FastifyReply; caller: Caller }

/** Undefined where there is nothing to wait for. The room is given back when the answer is out, or the client gone. */
export function roomForBody(gates: Gates, { request, reply, caller }: Asking): Promise<void> | undefined {
  const bytes = announced(request)
  // What needs no key takes no large bodies.
  if (bytes <= largeBytes || caller === nobody) return undefined
  const { socket } = request.raw
  // Gone while its key was looked up: nobody would tell of its end again.
  if (socket.destroyed) return undefined
  let giveBack: (() => void) | undefined
  let isOver = false
  const end = () => {
    socket.off('close', end)
    if (!isOver) giveBack?.()
    isOver = true
  }
  reply.raw.once('close', end)
  // An answer that stands in line behind another of its connection is not told when that breaks off.
  socket.once('close', end)
  return gates.bodies.take({ accountId: caller.accountId, bytes }).then((release) => {
    if (isOver) release()
    else giveBack = release
  })
}

/** What is larger than it may be is refused unread. */
function announced({ headers, routeOptions }: FastifyRequest): number {
  const most = routeOptions.bodyLimit ?? 0
  if (headers['transfer-encoding'] !== undefined) return most
  const bytes = Number(headers['content-length'] ?? 0)
  return bytes <= most ? bytes : 0
}
