// Notices that a message did not arrive. RFC 3464 in RFC 6522, and the forms of servers that know neither.
import { normalEmail } from '../../../kernel/email-address.ts'
import { isDaemon, isReport } from './automatic.ts'
import { fold, oneOf } from './fold.ts'
import type { IncomingMail } from './parse-mail.ts'
import { blocksOf, type Reported, reportedBy } from './returned.ts'

/** What a report says of one recipient. */
export type Bounce = Reported & {
  /** Only a message that failed for good is a bounce; one that is late may still arrive. */
  isFailed: boolean
  /** Whom it is about: as we wrote it, and where it ended. Empty: the words have to name our recipient. */
  recipients: string[]
  /** Where it ended, when the report says so. */
  ended: string | null
  status: string | null
  smtpCode: number | null
  diagnostic: string
  /** What was said, to look for an address in. */
  words: string
}

/** One for each recipient; of a message that several addresses were made of, each may have met with something else. */
export function readBounces(mail: IncomingMail): Bounce[] {
  const report = mail.parts.find(({ type }) => /^message\/(global-)?delivery-status$/.test(type))
  return report ? fromReport(mail, report.content) : fromWords(mail)
}

function fromReport(mail: IncomingMail, report: string): Bounce[] {
  const about = reportedBy(mail)
  return blocksOf(report)
    .filter((block) => block.has('final-recipient') || block.has('action'))
    .map((block) => ({ ...fromBlock(block), ...about, words: '' }))
}

function fromBlock(block: Map<string, string>): Omit<Bounce, keyof Reported | 'words'> {
  const diagnostic = (block.get('diagnostic-code') ?? '').replace(/^\s*(smtp|x-[\w-]+)\s*;\s*/i, '')
  return {
    isFailed: /^failed/i.test(block.get('action') ?? ''),
    recipients: ['original-recipient', 'final-recipient'].flatMap((name) => addressOf(block.get(name))),
    ended: addressOf(block.get('final-recipient'))[0] ?? null,
    status: /[245]\.\d{1,3}\.\d{1,3}/.exec(block.get('status') ?? '')?.[0] ?? null,
    smtpCode: codeIn(diagnostic),
    diagnostic: diagnostic.slice(0, 1_000),
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

const subjects = oneOf(
  /undeliver|delivery (status|failure|has failed)|returned mail|failure notice|rejected/,
  /mail delivery (failed|system)|non remis|nicht zugestellt|unzustellbar/,
  /no se ha (podido )?entrega|mancata consegna/,
)
const lateWords =
  /\bdelayed\b|will be retried|still being retried|will keep trying|no need to (do anything|resend)/i

/** By its header alone: worth being read whole. */
export function mayBeReport(mail: IncomingMail): boolean {
  const { headers } = mail
  return isReport(headers) || isDaemon(mail) || headers.get('return-path') === '<>'
}

/** A hint only: it has to name a message of ours, its recipient and a code to count. */
function fromWords(mail: IncomingMail): Bounce[] {
  const isOfServer = isDaemon(mail) || mail.headers.get('return-path') === '<>'
  if (!isOfServer || !subjects.test(fold(mail.subject))) return []
  const words = [mail.text, ...mail.parts.map(({ content }) => content)].join('\n')
  const line = words.split('\n').find((each) => codeIn(each) !== null || statusIn(each) !== null) ?? ''
  const [status, smtpCode] = [statusIn(line), codeIn(line)]
  const one = {
    isFailed: (status !== null || smtpCode !== null) && !lateWords.test(mail.subject + words.slice(0, 2_000)),
    recipients: [],
    ended: null,
    status,
    smtpCode,
    diagnostic: line.trim().slice(0, 1_000),
    ...reportedBy(mail, words),
    words: words.slice(0, 50_000).toLowerCase(),
  }
  return [one]
}

const statusIn = (text: string) => /(?:^|[^\d.])([45]\.\d{1,3}\.\d{1,3})(?![\d.])/.exec(text)?.[1] ?? null
