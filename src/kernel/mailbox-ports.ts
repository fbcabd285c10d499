// What outreach needs of the servers that a customer's mailbox lives on.
import type { Said } from './ports.ts'

export type MailCredentials = { user: string; password: string } | { user: string; accessToken: string }

/** One server of a mailbox, with what opens it. `secure`: TLS from the start; otherwise STARTTLS. */
export type MailServer = { host: string; port: number; secure: boolean; credentials: MailCredentials }

/** What came of handing a message to the server of its mailbox. */
export type MailboxOutcome =
  | { kind: 'accepted'; response: string }
  /** Never, in answer to this command. */
  | ({ kind: 'rejected'; stage: MailStage } & Said)
  /** Not now. Without a stage it did not come to a command: no connection, or one that broke before the message. */
  | ({ kind: 'deferred'; stage: MailStage | null } & Said)
  /** The server does not let us in. */
  | ({ kind: 'login_refused' } & Said)
  /** It may or may not have it. */
  | ({ kind: 'uncertain' } & Said)

export type MailStage = 'mail' | 'rcpt' | 'data'

export type MailboxSender = {
  send(server: MailServer, mail: { from: string; to: string; raw: Buffer }): Promise<MailboxOutcome>
  /** Logs in and out. What stands against it, in words; undefined when all is well. */
  test(server: MailServer): Promise<string | undefined>
}

/** Why a mailbox could not be read: `login` is not mended by trying again. */
export class MailboxFault extends Error {
  override name = 'MailboxFault'
  readonly code: 'login' | 'unreachable'

  constructor(code: 'login' | 'unreachable', message: string) {
    super(message)
    this.code = code
  }
}

export type FolderState = { uidValidity: string; uidNext: number }

/** `head` is the header, or its beginning where it is very long. */
export type MailHead = { uid: number; receivedAt: Date; head: Buffer }

/** `messageId` with its angle brackets; null when the copy has none. */
export type SentCopy = { ref: string; messageId: string | null }

/** A connection to a mailbox, which changes nothing in it: nothing is marked as read. Its calls throw MailboxFault. */
export type OpenMailbox = {
  /** Where mail comes in: the inbox last, since that is the one to wait in. */
  folders: string[]
  /** Opens a folder; the calls below are about the one that is open. */
  enter(folder: string): Promise<FolderState>
  /** The first message that came at that time or later; undefined when there is none. */
  firstSince(time: Date): Promise<number | undefined>
  /** The next messages behind a number, in their order. */
  headsAfter(uid: number, limit: number): Promise<MailHead[]>
  /** The message, or its beginning where it is very long; undefined when it is gone. */
  source(uid: number): Promise<Buffer | undefined>
  /** Of messages of ours, by the references they carry, those with a copy among what was sent. */
  findSent(refs: string[]): Promise<SentCopy[]>
  /** Until mail came in, or that long. */
  wait(ms: number, stopping: AbortSignal): Promise<void>
  close(): void
}

export type MailboxReader = {
  /** Logs in and out. What stands against it, in words; undefined when all is well. */
  test(server: MailServer): Promise<string | undefined>
  open(server: MailServer): Promise<OpenMailbox>
}
