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

export type MailboxReader = {
  /** Logs in and out. What stands against it, in words; undefined when all is well. */
  test(server: MailServer): Promise<string | undefined>
}
