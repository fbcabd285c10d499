// What the server of a mailbox said, in words for whoever looks after the mailbox.
import type { MailboxOutcome, MailStage } from '../../../kernel/mailbox-ports.ts'
import type { Said } from '../../../kernel/ports.ts'

const commands: Record<MailStage, string> = { mail: 'MAIL', rcpt: 'RCPT', data: 'DATA' }

/** With the code, and the command that it came in answer to. */
export function told(said: Said & { stage?: MailStage | null }): string {
  const { stage, smtpCode, enhancedCode, message } = said
  if (smtpCode === null || message.includes(String(smtpCode))) return message
  const code = enhancedCode === null ? smtpCode : `${smtpCode} ${enhancedCode}`
  return stage ? `${code} in answer to ${commands[stage]}: ${message}` : `${code}: ${message}`
}

/** Nothing where it is about one recipient, which says nothing of the mailbox. */
export function faultOfMailbox(outcome: Extract<MailboxOutcome, { kind: 'deferred' }>): string | undefined {
  // RFC 5321 3.8: with 421 the server ends the conversation, whatever it was asked.
  return outcome.stage === 'rcpt' && outcome.smtpCode !== 421 ? undefined : told(outcome)
}
