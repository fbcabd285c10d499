// A DNS server on loopback with the records a test gives it.
import { after } from 'node:test'
import dns2 from 'dns2'

/** What a name of a type answers: records, or a server that fails or stays silent. What is not there does not exist. */
export type Zone = Record<string, string[] | { exchange: string; priority: number }[] | 'fails' | 'silent'>

const { Packet } = dns2
// RFC 1035 §4.1.1.
const [serverFailure, noSuchName] = [2, 3]

/** `zone` is read at every question: a test may change it. Gives the address for POSTHORN_DNS. */
export async function startDnsServer(zone: Zone): Promise<string> {
  const server = dns2.createServer({ udp: true, handle: (request, send) => answer(zone, request, send) })
  const { udp } = await server.listen({ udp: { port: 0, address: '127.0.0.1' } })
  after(() => server.close())
  return `127.0.0.1:${udp?.port}`
}

type Handle = NonNullable<Parameters<typeof dns2.createServer>[0]>['handle']
type Request = Parameters<NonNullable<Handle>>[0]
type Send = Parameters<NonNullable<Handle>>[1]

function answer(zone: Zone, request: Request, send: Send): void {
  const response = Packet.createResponseFromRequest(request)
  const [question] = request.questions
  const type = question?.type === Packet.TYPE.MX ? 'MX' : question?.type === Packet.TYPE.TXT ? 'TXT' : ''
  const name = question?.name.toLowerCase() ?? ''
  const found = zone[`${name} ${type}`]
  if (found === 'silent') return
  if (found === 'fails') response.header.rcode = serverFailure
  else if (!found) response.header.rcode = noSuchName
  else
    for (const one of found)
      response.answers.push({
        name,
        type: Packet.TYPE[type as 'MX' | 'TXT'],
        class: Packet.CLASS.IN,
        ttl: 60,
        ...(typeof one === 'string' ? { data: one } : one),
      } as never)
  send(response)
}
