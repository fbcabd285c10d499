import { type BounceClass, type BounceVerdict, isDeadAddress, verdict } from './classes.ts'
import { classOfCode, isVague, statusCode } from './codes.ts'
import { deadTexts, decisiveTexts, faultTexts, type TextRule } from './patterns.ts'

export type Reply = {
  smtpCode: number | null
  enhancedCode: string | null
  message: string
  /** The command that was answered: connect, ehlo, auth, mail, rcpt, data; or dns, when no server was found. */
  stage?: string
}

const longestText = 4_000

/** What a reply says of the address it was given for. */
export function classifyReply(reply: Reply): BounceVerdict {
  const text = plainText(reply.message)
  const smtpCode = reply.smtpCode ?? leadingCode(reply.message)
  const code = statusCode(reply.enhancedCode, text)
  const isTemporary = saysTemporary(smtpCode, code)
  const isPermanent = smtpCode === null ? code?.startsWith('5') === true : smtpCode >= 500
  const found = { text, code, smtpCode, stage: reply.stage?.toLowerCase() ?? '' }
  const name = isTemporary ? temporaryClass(found) : permanentClass(found)
  const isDead = !isTemporary && isDeadAddress(name) && isCertain(name, found)
  const judged = verdict(name, isPermanent, isDead)
  return isAboutUs(found.stage) ? { ...judged, countsToLimit: false } : judged
}

type Found = { text: string; code: string | undefined; smtpCode: number | null; stage: string }

// Either digit is enough: a 5xx with 4.4.7 is a message that was given up, not an address that is dead.
function saysTemporary(smtpCode: number | null, code: string | undefined): boolean {
  return (smtpCode !== null && smtpCode < 500) || code?.startsWith('4') === true
}

function temporaryClass(found: Found): BounceClass {
  const name = temporaryWords(found)
  // The full disk is the upstream's.
  return name === 'mailbox_full' && isAboutUs(found.stage) ? 'temporary' : name
}

function temporaryWords({ text, code, smtpCode }: Found): BounceClass {
  if (code === '4.7.8') return 'credentials'
  const inText = firstOf(decisiveTexts, text) ?? firstOf(faultTexts, text)
  if (inText) return inText
  const inCode = classOfCode(code)
  if (inCode === 'policy') return 'rate'
  if (inCode && !isDeadAddress(inCode)) return inCode
  return smtpCode === 452 ? 'mailbox_full' : 'temporary'
}

function permanentClass(found: Found): BounceClass {
  const { text, code, smtpCode, stage } = found
  if (isLogin(smtpCode, stage)) return 'credentials'
  const decisive = firstOf(decisiveTexts, text)
  if (decisive) return decisive
  const inCode = classOfCode(code)
  if (inCode && !isVague(code)) return fromCode(inCode, found)
  if (isAboutUs(stage)) return firstOf(faultTexts, text) ?? inCode ?? 'policy'
  const spoken = isMicrosoftUnknown(found) ? 'unknown_user' : firstOf(deadTexts, text)
  return withoutDoubt(spoken, text) ?? inCode ?? (smtpCode === null ? 'other' : basicClass(smtpCode))
}

// Words about spam, policy or us beside "mailbox unavailable" leave a doubt, which goes in favour of the address.
const doubts = [
  /policy|spam|virus|unsolicited|abus|client host|\byour (?:\S+ )?(?:account|domain|server|network|ip|organi[sz]ation)/,
  /(?:\bip|host|client|server|network)\b.{0,30}\bblocked|blocked (?:by|for)|(?:white|allow)[- ]?list/,
]

function withoutDoubt(spoken: BounceClass | undefined, text: string): BounceClass | undefined {
  if (spoken && !doubts.some((each) => each.test(text))) return spoken
  return firstOf(faultTexts, text) ?? (spoken && 'policy')
}

function fromCode(inCode: BounceClass, { text, code, stage }: Found): BounceClass {
  if (isDeadAddress(inCode)) return isAboutUs(stage) ? 'sender' : (nearer(inCode, text) ?? inCode)
  // Without more, x.7 is policy; the words tell which.
  if (code?.startsWith('5.7.') && inCode === 'policy') return firstOf(faultTexts, text) ?? inCode
  return inCode
}

function nearer(inCode: BounceClass, text: string): BounceClass | undefined {
  const spoken = firstOf(deadTexts, text)
  return inCode === 'no_mail_host' || inCode === 'unknown_user' ? spoken : undefined
}

function isCertain(name: BounceClass, { code, smtpCode, text, stage }: Found): boolean {
  if (code === undefined && smtpCode === null) return false
  if (/temporar(?:y|ily)|temporairement|try (?:again |sending )?later/.test(text)) return false
  // A remote server's 5.1.2 may be its own trouble with the DNS: only words of non-existence make it certain.
  return (
    name !== 'unknown_host' || code !== '5.1.2' || stage === 'dns' || firstOf(deadTexts, text) !== undefined
  )
}

// Microsoft answers so for an address that is not in the directory (directory-based edge blocking).
const isMicrosoftUnknown = ({ code, text }: Found) =>
  code === '5.4.1' && /recipient address rejected: access denied/.test(text)

// Before the recipient was named, a refusal cannot be about it.
const isAboutUs = (stage: string) => /^(?:connect|greeting|helo|ehlo|lhlo|starttls|auth|mail)/.test(stage)

// RFC 4954 section 6.
const isLogin = (smtpCode: number | null, stage: string) =>
  stage.startsWith('auth') || (smtpCode !== null && smtpCode >= 530 && smtpCode <= 538)

function basicClass(smtpCode: number): BounceClass {
  if (smtpCode === 552) return 'mailbox_full'
  // RFC 7504. Its 521 is left out: lists of blocked networks answer it as well.
  if (smtpCode === 556) return 'no_mail_host'
  return smtpCode >= 500 && smtpCode < 510 ? 'policy' : 'other'
}

function firstOf(rules: TextRule[], text: string): BounceClass | undefined {
  return rules.find(([, pattern]) => pattern.test(text))?.[0]
}

function leadingCode(message: string): number | null {
  const [, digits] = /^\s*([245]\d\d)(?:[ -]|$)/.exec(message) ?? []
  return digits ? Number(digits) : null
}

// Addresses go, since their names may hold any of the words; so do the codes that lead the lines of a long reply.
function plainText(message: string): string {
  return message
    .slice(0, longestText)
    .toLowerCase()
    .normalize('NFD')
    .replace(/\p{M}/gu, '')
    .replaceAll('’', "'")
    .replace(/<[^<>\s]{0,320}>|[^\s<>()[\]"']{1,64}@[^\s<>()[\]"']{1,255}/g, '')
    .replace(/\s+/g, ' ')
}
