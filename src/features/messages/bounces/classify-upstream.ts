import { type BounceClass, type BounceVerdict, verdict } from './classes.ts'
import { classifyReply } from './classify-reply.ts'

type Told = {
  /** The reply of the receiving server, as the upstream passes it on. */
  diagnosticCode?: string
  status?: string
}

export type UpstreamBounce = Told &
  (
    | { provider: 'ses'; bounceType: 'Permanent' | 'Transient' | 'Undetermined'; bounceSubType?: string }
    | { provider: 'scaleway'; flags: string[] }
    | { provider: 'generic'; kind: string }
  )

export type UpstreamVerdict = BounceVerdict & {
  /** `suppressed`: the upstream did not send, so that it is no bounce of this message to be counted. */
  status: 'failed' | 'suppressed'
  /** Where the knowledge about the address comes from. */
  origin: 'recipient' | 'upstream'
}

export function classifyUpstreamBounce(bounce: UpstreamBounce): UpstreamVerdict {
  const told = toldBy(bounce)
  if (bounce.provider === 'ses') return fromSes(bounce.bounceType, bounce.bounceSubType ?? '', told)
  const words = bounce.provider === 'scaleway' ? bounce.flags : [bounce.kind]
  return fromWords(words.map(normal), told)
}

function toldBy({ diagnosticCode, status }: Told): BounceVerdict | undefined {
  if (!diagnosticCode && !status) return undefined
  const message = (diagnosticCode ?? '').replace(/^\s*smtp\s*;\s*/i, '')
  return classifyReply({ smtpCode: null, enhancedCode: status ?? null, message })
}

const sesTransient: Record<string, BounceClass> = {
  mailboxfull: 'mailbox_full',
  messagetoolarge: 'size',
  contentrejected: 'content',
  attachmentrejected: 'content',
}

function fromSes(type: string, subType: string, told: BounceVerdict | undefined): UpstreamVerdict {
  const sub = normal(subType)
  if (sub.includes('suppress')) return suppressed()
  if (type === 'Permanent') return failed(hard(told))
  const transient = sesTransient[sub]
  if (transient) return failed(verdict(transient, true))
  return failed(soft(told, type === 'Transient' ? 'temporary' : 'other'))
}

// SES also calls a refusal by policy permanent. What the receiving server said outranks it, unless it says nothing.
function hard(told: BounceVerdict | undefined): BounceVerdict {
  if (!told || told.class === 'other') return verdict('unknown_user', true)
  return verdict(told.class, true)
}

// The upstream has given up by now; it never grows harder than the upstream says.
function soft(told: BounceVerdict | undefined, fallback: BounceClass): BounceVerdict {
  const isUsable = told && told.class !== 'other' && !told.suppresses
  return isUsable ? { ...told, isPermanent: true } : verdict(fallback, true)
}

const upstreamWords: [RegExp, BounceClass][] = [
  [/blocklisted|suppress|dropped|unsubscribed/, 'suppressed'],
  [/mailboxnotfound|unknownuser|usernotfound|invalid/, 'unknown_user'],
  [/mailboxfull|overquota/, 'mailbox_full'],
  [/spam|blocked|reputation/, 'blocked'],
  [/greylisted/, 'greylisted'],
  [/toolarge|size/, 'size'],
  [/content|attachment|virus/, 'content'],
  [/expir|timeout/, 'network'],
]

function fromWords(words: string[], told: BounceVerdict | undefined): UpstreamVerdict {
  const known = upstreamWords.find(([pattern]) => words.some((word) => pattern.test(word)))?.[1]
  if (known === 'suppressed') return suppressed()
  if (known) return failed(verdict(known, true))
  if (words.some((word) => /hard|permanent/.test(word))) return failed(hard(told))
  return failed(soft(told, 'temporary'))
}

// Taken over as a hard bounce of the upstream's making: it would never send to the address anyway.
function suppressed(): UpstreamVerdict {
  return { ...verdict('suppressed', true, true), status: 'suppressed', origin: 'upstream' }
}

const failed = (found: BounceVerdict): UpstreamVerdict => ({
  ...found,
  status: 'failed',
  origin: 'recipient',
})

const normal = (word: string) => word.toLowerCase().replace(/[^a-z]/g, '')
