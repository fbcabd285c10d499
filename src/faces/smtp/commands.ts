import type { Client, Step } from './client.ts'
import { logFailure } from './failures.ts'
import { auth } from './login.ts'
import { startData } from './message.ts'
import { faultOfMailParams, type Path, readPath } from './paths.ts'
import { andGoodbye, replies, replyTo, type Stage } from './replies.ts'

type Command = (client: Client, argument: string) => Step

const commands: Record<string, Command> = {
  EHLO: (client, name) => hello(client, name, [client.relay.options.name, ...extensions(client)]),
  HELO: (client, name) => hello(client, name, [client.relay.options.name]),
  STARTTLS: bare(startTls),
  AUTH: (client, argument) => (client.envelope ? replies.mailOpen : auth(client, argument)),
  MAIL: authenticated(mail),
  RCPT: authenticated(recipient),
  DATA: (client, argument) => synchronised(client, authenticated(bare(startData))(client, argument)),
  RSET: bare(reset),
  NOOP: () => replies.ok,
  VRFY: () => replies.verify,
  HELP: () => replies.help,
  QUIT: bare(() => replies.bye),
}

const known = new Set([
  'EXPN',
  'TURN',
  'ETRN',
  'ATRN',
  'SEND',
  'SOML',
  'SAML',
  'BDAT',
  'BURL',
  'XCLIENT',
  'XFORWARD',
])

export function perform(client: Client, line: string): Step {
  const space = line.indexOf(' ')
  const verb = (space < 0 ? line : line.slice(0, space)).toUpperCase()
  const command = commands[verb]
  if (command) return command(client, space < 0 ? '' : line.slice(space).trim())
  return known.has(verb) ? replies.notOffered : replies.unknownCommand
}

function bare(run: (client: Client) => Step): Command {
  return (client, argument) => (argument === '' ? run(client) : replies.noArgument)
}

function authenticated(run: Command): Command {
  return (client, argument) => {
    if (client.session) return run(client, argument)
    return client.secure || client.relay.options.allowPlainAuth ? replies.loginFirst : replies.tlsFirst
  }
}

// Who sends its message without waiting for 354 would, when DATA is refused, have the message read as commands.
function synchronised(client: Client, step: Step): Step {
  const refused = typeof step === 'string' && !step.startsWith('354')
  return refused && client.input.length > 0 ? andGoodbye(step, replies.unsynchronised) : step
}

function hello(client: Client, name: string, lines: string[]): string {
  if (name === '') return replies.nameMissing
  client.greeted = true
  client.envelope = undefined
  return lines.map((line, at) => `250${at === lines.length - 1 ? ' ' : '-'}${line}`).join('\r\n')
}

function extensions({ secure, session, relay: { options, secureContext } }: Client): string[] {
  const canLogIn = !session && (secure || options.allowPlainAuth)
  return [
    'PIPELINING',
    '8BITMIME',
    'ENHANCEDSTATUSCODES',
    `SIZE ${options.maxBytes}`,
    ...(secureContext && !secure ? ['STARTTLS'] : []),
    ...(canLogIn ? ['AUTH PLAIN LOGIN'] : []),
  ]
}

function startTls(client: Client): string {
  if (client.secure) return replies.secureAlready
  if (!client.relay.secureContext) return replies.notOffered
  client.upgrading = true
  return replies.startTls
}

function reset(client: Client): string {
  client.envelope = undefined
  return replies.reset
}

function mail(client: Client, argument: string): Step {
  if (client.envelope) return replies.mailOpen
  const path = readPath(argument, 'FROM:')
  if (path === 'not ascii') return replies.notAscii
  if (path === 'malformed') return replies.senderSyntax
  const fault = faultOfMailParams(path.params, client.relay.options.maxBytes)
  if (fault) return faults[fault]
  const open = () => {
    client.envelope = { from: path.address, recipients: [] }
    return '250 2.1.0 Sender ok'
  }
  const { checkSender } = client.relay.options
  return checkSender ? decide(client, 'sender', path, open) : open()
}

const faults = {
  unknown: replies.unknownParameter,
  malformed: replies.badParameter,
  'too large': replies.tooLarge,
}

function recipient(client: Client, argument: string): Step {
  const { envelope } = client
  const { maxRecipients, checkRecipient } = client.relay.options
  if (!envelope) return replies.mailFirst
  const path = readPath(argument, 'TO:')
  if (path === 'not ascii') return replies.notAscii
  if (path === 'malformed' || path.address === '') return replies.recipientSyntax
  if (path.params.length > 0) return replies.unknownParameter
  if (envelope.recipients.length >= maxRecipients) return replies.tooManyRecipients
  const add = () => {
    envelope.recipients.push(path.address)
    return '250 2.1.5 Recipient ok'
  }
  return checkRecipient ? decide(client, 'recipient', path, add) : add()
}

async function decide(client: Client, stage: Stage, { address }: Path, yes: () => string): Promise<string> {
  const { options } = client.relay
  try {
    if (stage === 'sender') await options.checkSender?.(client.session?.is, address)
    else await options.checkRecipient?.(client.session?.is, address)
    return yes()
  } catch (error) {
    logFailure(client, stage, error)
    return replyTo(error, stage)
  }
}
