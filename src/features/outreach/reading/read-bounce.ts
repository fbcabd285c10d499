// Notices that a message did not arrive. RFC 3464 in RFC 6522, and the forms of servers that know neither.
import { normalEmail } from '../../../kernel/email-address.ts'
import { fold, oneOf } from './fold.ts'
import { type IncomingMail, readIds } from './parse-mail.ts'

export type Bounce = {
  /** Only a message that failed for good is a bounce; one that is late may still arrive. */
  isFailed: boolean
  /** Whom it is about: as we wrote it, and where it ended. Empty: the words have to name our recipient. */
  recipients: string[]
  status: string | null
  smtpCode: number | null
  diagnostic: string
  /** Identifiers of messages that may be the one that failed. */
  originals: string[]
  /** What was said, to look for an address in. */
  words: string
}

export function readBounce(mail: IncomingMail): Bounce | undefined {
  const report = mail.parts.find(({ type }) => type === 'message/delivery-status')
  return report ? fromReport(mail, report.content) : fromWords(mail)
}

type Fields = Map<string, string>

/** Each block stands by itself: mixed, one recipient would get the diagnostic of another. */
function blocksOf(report: string): Fields[] {
  return report
    .replaceAll('\r\n', '\n')
    .split(/\n[ \t]*\n/)
    .map((block) => block.replaceAll(/\n[ \t]+/g, ' '))
    .map((block) => new Map(block.split('\n').flatMap(fieldOf)))
}

function fieldOf(line: string): [string, string][] {
  const colon = line.indexOf(':')
  return colon < 1 ? [] : [[line.slice(0, colon).trim().toLowerCase(), line.slice(colon + 1).trim()]]
}

function fromReport(mail: IncomingMail, report: string): Bounce | undefined {
  const blocks = blocksOf(report).filter((block) => block.has('final-recipient') || block.has('action'))
  const actionOf = (block: Fields) => block.get('action')?.toLowerCase() ?? ''
  const block = blocks.find((each) => actionOf(each).startsWith('failed')) ?? blocks[0]
  if (!block) return undefined
  const diagnostic = (block.get('diagnostic-code') ?? '').replace(/^\s*(smtp|x-[\w-]+)\s*;\s*/i, '')
  return {
    isFailed: actionOf(block).startsWith('failed'),
    recipients: ['original-recipient', 'final-recipient'].flatMap((name) => addressOf(block.get(name))),
    status: /[245]\.\d{1,3}\.\d{1,3}/.exec(block.get('status') ?? '')?.[0] ?? null,
    smtpCode: codeIn(diagnostic),
    diagnostic: diagnostic.slice(0, 1_000),
    originals: originalsOf(mail),
    words: '',
  }
}

function addressOf(field: string | undefined): string[] {
  const email = normalEmail((field ?? '').replace(/^[^;]*;/, '').replaceAll(/[<>\s]/g, ''))
  return email === undefined ? [] : [email]
}

const codeIn = (text: string) => {
  const found = /(?:^|[\s:#(])([45]\d\d)(?=[\s-]|$)/.exec(text)?.[1]
  return found ? Number(found) : null
}

const returned = new Set([
  'message/rfc822',
  'text/rfc822-headers',
  'message/rfc822-headers',
  'message/global',
])

function originalsOf(mail: IncomingMail): string[] {
  const inReturned = mail.parts
    .filter(({ type }) => returned.has(type))
    .flatMap(({ content }) => idsInHead(content))
  return [...new Set([...inReturned, ...mail.inReplyTo, ...mail.references])]
}

const idsInHead = (text: string) =>
  [...text.matchAll(/^[ \t>]*Message-ID:\s*(<[^<>\s]+>)/gim)].flatMap(([, id]) => readIds(id))

const daemons = /^(mailer-daemon|postmaster|mail-daemon|mailerdaemon|mdaemon)@/
const subjects = oneOf(
  /undeliver|delivery (status|failure|has failed)|returned mail|failure notice|rejected/,
  /mail delivery (failed|system)|non remis|nicht zugestellt|unzustellbar/,
  /no se ha (podido )?entrega|mancata consegna/,
)
const lateWords =
  /\bdelayed\b|will be retried|still being retried|will keep trying|no need to (do anything|resend)/i

/** By its header alone: worth being read whole. */
export function mayBeBounce({ from, headers }: IncomingMail): boolean {
  const isReport = /multipart\/report/i.test(headers.get('content-type') ?? '')
  return isReport || daemons.test(from ?? '') || headers.get('return-path') === '<>'
}

/** A hint only: it has to name a message of ours, its recipient and a code to count. */
function fromWords(mail: IncomingMail): Bounce | undefined {
  const isNobody = mail.headers.get('return-path') === '<>'
  const isDaemon = daemons.test(mail.from ?? '') || isNobody
  if (!isDaemon || !subjects.test(fold(mail.subject))) return undefined
  const words = [mail.text, ...mail.parts.map(({ content }) => content)].join('\n')
  const line = words.split('\n').find((each) => codeIn(each) !== null || statusIn(each) !== null) ?? ''
  const [status, smtpCode] = [statusIn(line), codeIn(line)]
  return {
    isFailed: (status !== null || smtpCode !== null) && !lateWords.test(mail.subject + words.slice(0, 2_000)),
    recipients: [],
    status,
    smtpCode,
    diagnostic: line.trim().slice(0, 1_000),
    originals: [...new Set([...originalsOf(mail), ...idsInHead(words)])],
    words: words.slice(0, 50_000).toLowerCase(),
  }
}

const statusIn = (text: string) => /(?:^|[^\d.])([45]\.\d{1,3}\.\d{1,3})(?![\d.])/.exec(text)?.[1] ?? null
