// What the service needs of the outside.
import type { Readable } from 'node:stream'

/** One message for one recipient, ready for the wire. */
export type Handover = {
  /** Our own identifier, for the upstream's tags and for its feedback. */
  id: string
  accountId: string
  envelopeFrom: string
  recipient: string
  raw: Buffer
  /** Some upstreams forbid marketing mail. */
  stream: 'transactional' | 'marketing'
}

export type Said = { smtpCode: number | null; enhancedCode: string | null; message: string }

/** `mail`: the answer to the sender's address, given before the recipient was named. */
type Answered = Said & { stage?: 'mail' }

/** What came of handing a message over. */
export type Outcome =
  | { kind: 'accepted'; upstreamId: string | null; response: string }
  /**
   * Not now. `transport`: the upstream as a whole is not taking mail, which is not this message's fault. A wait of ten
   * minutes or more says that somebody has to act; the message is held meanwhile.
   */
  | ({ kind: 'deferred'; fault: 'message' | 'transport'; retryAfterMs?: number } & Answered)
  /** Never. */
  | ({ kind: 'rejected' } & Answered)
  /**
   * The upstream may or may not have it: the connection broke while its answer was due. One that reports what it has
   * taken is given time to do so before the message goes again.
   */
  | ({ kind: 'uncertain'; retryAfterMs?: number } & Said)

export type Transport = {
  kind: string
  /** The upstream signs with DKIM itself. */
  signs: boolean
  takesMarketing: boolean
  /** How many hand-overs may be under way at once. */
  concurrency: number
  send(handover: Handover): Promise<Outcome>
  /** Throws with a reason that a person can act on. */
  verify(): Promise<void>
  /** How many messages the upstream takes in a second from all processes together; null: it does not say. */
  perSecond?(): Promise<number | null>
  /** Takes an address off the upstream's own suppression list, where it has one. */
  unsuppress?(address: string): Promise<void>
  /** The sending domain at an upstream that signs; it is registered there when it is not known yet. */
  identity?(domain: string): Promise<Identity>
  /** Gives a sending domain up; one that is not there is fine. */
  removeIdentity?(domain: string): Promise<void>
  /** The process is about to stop: what has not begun comes back at once, deferred by the transport. */
  letGo?(): void
  close(): Promise<void>
}

/** A record that an upstream asks a sending domain to publish. */
export type IdentityRecord = {
  role: 'dkim' | 'spf' | 'dmarc' | 'return_path'
  type: 'TXT' | 'CNAME' | 'MX'
  host: string
  value: string
  required: boolean
}

export type Identity = {
  records: IdentityRecord[]
  /** Whether the upstream signs and sends for it; null: it cannot tell now. */
  ready: boolean | null
  /** The upstream's own view, for a person. */
  says: string
  /** It was registered by us; absent when it was there before. */
  registered?: true
}

/** What an upstream tells later about a message that it took. */
export type UpstreamEvent = {
  provider: 'ses' | 'scaleway'
  upstreamId: string | null
  /** Our own identifier, as the hand-over gave it. */
  messageRef: string | null
  /** `send`: the upstream has the message. It settles a hand-over whose outcome is uncertain. */
  type: 'send' | 'delivery' | 'bounce' | 'complaint' | 'deferred' | 'reject'
  recipient: string
  at: Date
  /** Of a bounce or a delay, in the words of Amazon SES. */
  bounce?: {
    bounceType: string
    subType: string | null
    smtpCode: number | null
    enhancedCode: string | null
    diagnostic: string | null
  }
  complaint?: { feedbackType: string | null; subType: string | null }
}

/** What public DNS says: the records, that there are none, or that nobody answered. */
export type DnsAnswer<T> = T[] | 'none' | 'unreadable'

export type MxRecord = { exchange: string; priority: number }

export type Dns = {
  mx(domain: string): Promise<DnsAnswer<MxRecord>>
  /** Aliases are followed. A record of several strings is one text. */
  txt(name: string): Promise<DnsAnswer<string>>
  /** The alias that stands at the name itself. */
  cname(name: string): Promise<DnsAnswer<string>>
  /** IPv4 and IPv6. */
  addresses(name: string): Promise<DnsAnswer<string>>
  /** Whether there is such a name, with whatever records. */
  exists(name: string): Promise<boolean | 'unreadable'>
}

/** Keeps files under names that are our own, never a caller's. */
export type FileStorage = {
  kind: string
  /** All of it or nothing that `read` would find, however it ends. */
  write(name: string, content: Buffer, contentType: string): Promise<void>
  /** Undefined: there is no such file. */
  read(name: string): Promise<Readable | undefined>
  /** Also what an interrupted write has left; that there is nothing is fine. */
  remove(name: string): Promise<void>
  /** Throws with a reason that a person can act on. */
  verify(): Promise<void>
}

/** One SMS for one number. */
export type SmsHandover = {
  /** Our own identifier, for the upstream's reports. */
  id: string
  accountId: string
  sender: string
  /** E.164 with its plus. */
  recipient: string
  content: string
  encoding: 'gsm7' | 'ucs2'
  type: 'transactional' | 'marketing'
  /** After so long it must not be delivered any more; null: whenever it can be. */
  lifeSeconds: number | null
}

/** What becomes of an SMS after the hand-over. `rejected`: nobody takes it as it is. */
export type SmsFailure = 'soft_bounce' | 'hard_bounce' | 'blocked' | 'rejected'

export type SmsOutcome =
  | { kind: 'accepted'; upstreamId: string | null }
  /** As with email. */
  | { kind: 'deferred'; fault: 'message' | 'transport'; message: string; retryAfterMs?: number }
  | { kind: 'failed'; as: SmsFailure; message: string }
  /** The upstream may or may not have it. */
  | { kind: 'uncertain'; message: string; retryAfterMs?: number }

export type SmsTransport = {
  kind: string
  /** How many hand-overs may be under way at once. */
  concurrency: number
  /** The upstream cannot be told of less. */
  shortestLifeSeconds: number
  send(handover: SmsHandover): Promise<SmsOutcome>
  /** Throws with a reason that a person can act on. */
  verify(): Promise<void>
  close(): Promise<void>
}

/** What an upstream tells later: about an SMS that it took, or that its recipient answered. */
export type SmsReport =
  | {
      kind: 'status'
      /** `sent`: the upstream has it, and nothing more is known. `accepted`: the operator has it. */
      type: 'sent' | 'accepted' | 'delivered' | SmsFailure
      messageRef: string | null
      upstreamId: string
      at: Date
      description: string
    }
  | {
      kind: 'reply'
      from: string
      text: string
      /** Of the SMS that is answered, where it is known. */
      upstreamId: string | null
      at: Date
    }
