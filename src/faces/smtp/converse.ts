// Input to replies: whole lines, one at a time, none while a decision is under way.
import type { Socket } from 'node:net'
import { answer, type Client, drop, flush, forgetAll, hangUp, nothing, type Step } from './client.ts'
import { perform } from './commands.ts'
import { readData } from './message.ts'
import { andGoodbye, replies } from './replies.ts'
import { secure } from './secure.ts'

const LF = 10
const CR = 13
const tlsHandshake = 22
// RFC 5321 §4.5.3.1.4 asks for 512 and allows more; RFC 4954 §4 asks for 12 288 in AUTH.
const longestLine = 2_048
const longestAuthLine = 12_288
const mostSkipped = 65_536
const commandsBeforeLogin = 30
// Far more than any message may have: those beyond the limit are refused one by one, and DATA follows.
const mostNamed = 2_000

export function attach(client: Client, socket: Socket): void {
  client.socket = socket
  socket.on('data', (chunk: Buffer) => hear(client, chunk))
  socket.on('drain', () => {
    client.blocked = false
    pump(client)
  })
  socket.on('end', () => {
    client.ended = true
    pump(client)
  })
}

export function greet(client: Client): void {
  answer(client, `220 ${client.relay.options.name} ESMTP ready`)
  flush(client)
}

function hear(client: Client, chunk: Buffer): void {
  if (client.over || client.upgrading) return
  client.input = client.input.length === 0 ? chunk : Buffer.concat([client.input, chunk])
  if (client.busy || client.blocked) client.socket.pause()
  else pump(client)
}

function pump(client: Client): void {
  while (client.input.length > 0 && isFree(client)) {
    const step = client.message ? readData(client, client.message) : readCommand(client)
    if (step === undefined) break
    if (typeof step === 'string') answer(client, step)
    else wait(client, step)
  }
  if (client.over) return
  if (client.upgrading) upgrade(client)
  else flush(client)
  if (!isFree(client)) return
  if (client.ended) leave(client)
  else if (client.socket.isPaused()) client.socket.resume()
}

const isFree = (client: Client) => !client.busy && !client.blocked && !client.over && !client.upgrading

function wait(client: Client, step: Promise<string>): void {
  client.busy = true
  const goOn = (reply: string) => {
    client.busy = false
    client.accepting = false
    if (client.over) return
    answer(client, reply)
    pump(client)
  }
  step.then(goOn, () => drop(client))
}

// The client closed its side. A message without its end was never given to us.
function leave(client: Client): void {
  if (client.message) drop(client)
  else hangUp(client)
}

// RFC 3207 §4.2 and CVE-2011-0411: what was sent behind STARTTLS in the clear must not count as said inside TLS.
function upgrade(client: Client): void {
  const { socket } = client
  forgetAll(client)
  for (const event of ['data', 'drain', 'end']) socket.removeAllListeners(event)
  const text = client.out
  client.out = ''
  socket.pause()
  socket.write(text, 'latin1', () => secure(client, (secured) => attach(client, secured)))
}

function readCommand(client: Client): Step | undefined {
  const { input } = client
  if (input[0] === tlsHandshake) return void drop(client)
  const end = input.indexOf(LF, client.scanned)
  if (end < 0) return waitForLine(client)
  const isTooLong = client.skipped > 0 || end > longest(client)
  const hasCr = end > 0 && input[end - 1] === CR
  const line = isTooLong ? '' : input.toString('latin1', 0, hasCr ? end - 1 : end)
  client.input = input.subarray(end + 1)
  client.scanned = 0
  client.skipped = 0
  const resume = client.answerNext
  client.answerNext = undefined
  if (isTooLong) return replies.lineTooLong
  if (!hasCr) return replies.lineEnd
  return interpret(client, line, resume)
}

function interpret(client: Client, line: string, resume: Client['answerNext']): Step | undefined {
  // A browser or a proxy was made to talk to us; its headers and body must not be read as commands.
  if (/ HTTP\/\d/.test(line)) return void drop(client)
  if (namesRecipient(client, line) && client.named < mostNamed) client.named += 1
  else client.commands += 1
  if (client.commands > mostCommands(client)) return replies.tooManyCommands
  if (/[^ -~\u0080-\u00ff]/.test(line)) return replies.controlCharacter
  return resume ? resume(line) : perform(client, line)
}

const namesRecipient = ({ envelope }: Client, line: string) => envelope !== undefined && /^rcpt /i.test(line)

function mostCommands({ session, relay }: Client): number {
  return session ? commandsBeforeLogin + 4 * relay.options.maxRecipients : commandsBeforeLogin
}

function longest({ input, answerNext }: Client): number {
  return answerNext || /^auth /i.test(input.toString('latin1', 0, 5)) ? longestAuthLine : longestLine
}

function waitForLine(client: Client): string | undefined {
  const { input } = client
  client.scanned = input.length
  if (client.skipped === 0 && input.length <= longest(client)) return undefined
  client.skipped += input.length
  client.input = nothing
  client.scanned = 0
  return client.skipped > mostSkipped ? andGoodbye(replies.lineTooLong, replies.tooManyErrors) : undefined
}
