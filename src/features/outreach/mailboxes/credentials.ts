// What opens the two servers of a mailbox, sealed in the database under the name of its account and address.
import type { MailCredentials, MailServer } from '../../../kernel/mailbox-ports.ts'
import { seal, unseal } from '../../../kernel/seal.ts'

/** The newest first: it seals; all of them open. */
export type SecretKeys = () => Promise<Buffer[]>

/** A password, or an access token of OAuth2: a new one comes with a change of the mailbox. */
export type Secret = { password: string } | { accessToken: string }

export type MailboxSecrets = { smtp: Secret; imap: Secret }

/** As the database has it. */
export type ServerSettings = { host: string; port: number; secure: boolean; user: string }

// Not by number: what is sealed with a new row is sealed before the row has one.
type Owner = { accountId: string; email: string }

const labelOf = ({ accountId, email }: Owner) => `mailbox ${accountId} ${email}`

export async function sealCredentials(
  keys: SecretKeys,
  owner: Owner,
  secrets: MailboxSecrets,
): Promise<Buffer> {
  const [newest] = await keys()
  if (!newest) throw new Error('there is no secret key')
  return seal(newest, Buffer.from(JSON.stringify(secrets)), labelOf(owner))
}

export async function openCredentials(
  keys: SecretKeys,
  owner: Owner,
  sealed: Buffer,
): Promise<MailboxSecrets> {
  return JSON.parse(unseal(await keys(), sealed, labelOf(owner)).toString())
}

export function serverWith({ host, port, secure, user }: ServerSettings, secret: Secret): MailServer {
  const credentials: MailCredentials = { user, ...secret }
  return { host, port, secure, credentials }
}
