// Requests so broken that the HTTP parser gives up never reach a route; they too get a structured answer.
import type { Socket } from 'node:net'
import { requestIdOf } from './request-id.ts'

const answers: Record<string, { line: string; status: number; code: string; message: string }> = {
  HPE_HEADER_OVERFLOW: {
    line: '431 Request Header Fields Too Large',
    status: 431,
    code: 'payload_too_large',
    message: 'The request headers are too large.',
  },
  ERR_HTTP_REQUEST_TIMEOUT: {
    line: '408 Request Timeout',
    status: 408,
    code: 'invalid_parameter',
    message: 'The request took too long to arrive.',
  },
}

const broken = {
  line: '400 Bad Request',
  status: 400,
  code: 'invalid_parameter',
  message: 'The request is not valid HTTP.',
}

const lingerMs = 1_000

export function answerBrokenRequest(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) return
  const { line, status, code, message } = answers[error.code ?? ''] ?? broken
  const id = requestIdOf(undefined)
  const retry = { retryable: status === 408, retry_after_s: null, request_id: id }
  const body = JSON.stringify({ error: { code, message, status, ...retry } })
  const head = [
    `HTTP/1.1 ${line}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    `x-request-id: ${id}`,
    'connection: close',
  ]
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`)
  // Node leaves this connection to us, and its client may never close it; at once would be a reset, before the answer.
  const linger = setTimeout(() => socket.destroy(), lingerMs)
  socket.once('close', () => clearTimeout(linger))
}
