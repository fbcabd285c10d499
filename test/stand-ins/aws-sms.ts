// AWS End User Messaging as far as sending goes: JSON 1.0 over HTTP, the action in a header.
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export type AwsSmsFailure =
  | { status: number; name: string; message?: string; reason?: string }
  /** Takes the SMS and never answers, breaks the connection, or only begins its answer. */
  | 'hang'
  | 'drop'
  | 'stall'

export type AwsSms = {
  messageId: string
  DestinationPhoneNumber: string
  OriginationIdentity?: string
  MessageBody: string
  MessageType: string
  TimeToLive?: number
  ConfigurationSetName?: string
  Context?: Record<string, string>
}

export async function startAwsSms() {
  const sent: AwsSms[] = []
  const failures: AwsSmsFailure[] = []
  const server = createServer((request, reply) => void answer({ sent, failures }, request, reply))
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    sent,
    fail: (...more: AwsSmsFailure[]) => void failures.push(...more),
    close: async () => {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}

type State = { sent: AwsSms[]; failures: AwsSmsFailure[] }

async function answer(
  { sent, failures }: State,
  request: IncomingMessage,
  reply: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const say = (status: number, body: object) =>
    reply.writeHead(status, { 'content-type': 'application/x-amz-json-1.0' }).end(JSON.stringify(body))
  if (!/^AWS4-HMAC-SHA256 /.test(request.headers.authorization ?? ''))
    return void say(403, { __type: 'AccessDeniedException', Message: 'not signed' })
  const action = String(request.headers['x-amz-target'])
  if (action === 'PinpointSMSVoiceV2.DescribeAccountAttributes')
    return void say(200, { AccountAttributes: [] })
  if (action !== 'PinpointSMSVoiceV2.SendTextMessage')
    return void say(404, { __type: 'UnknownOperationException' })
  const failure = failures.shift()
  if (typeof failure === 'object') {
    const { status, name, message = name, reason } = failure
    return void say(status, { __type: name, Message: message, Reason: reason })
  }
  const messageId = `sms-${sent.length + 1}`
  sent.push({ ...JSON.parse(Buffer.concat(chunks).toString()), messageId })
  if (failure === 'hang') return
  if (failure === 'drop') return void request.socket.destroy()
  if (failure === 'stall') return void reply.writeHead(200, { 'content-length': 60 }).write('{"Mess')
  say(200, { MessageId: messageId })
}
