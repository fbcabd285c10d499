// A sending domain at Amazon SES: Easy DKIM, and a MAIL FROM domain so that SPF aligns.
import type { SESv2Client } from '@aws-sdk/client-sesv2'
import type { Identity, IdentityRecord } from '../../kernel/ports.ts'

type Sdk = typeof import('@aws-sdk/client-sesv2')
export type SesManager = { sdk: Sdk; manager: SESv2Client; options: { region: string } }

const usualZone = 'dkim.amazonses.com'

/** The list of identities is one for the whole Amazon account: several of ours may share one. */
export async function readIdentity(ses: SesManager, domain: string): Promise<Identity> {
  const known = await findIdentity(ses, domain)
  const created = known ? undefined : await createIdentity(ses, domain)
  const found = known ?? (await findIdentity(ses, domain))
  const mailFrom = found?.MailFromAttributes?.MailFromDomain || (await setMailFrom(ses, domain))
  const { Status, Tokens = [], SigningHostedZone = usualZone } = found?.DkimAttributes ?? {}
  return {
    records: [
      ...Tokens.map((token) => dkimRecord(domain, token, SigningHostedZone)),
      ...(mailFrom ? mailFromRecords(mailFrom, ses.options.region) : []),
    ],
    ready: readyOf(Status),
    says: `Amazon SES says of the DKIM records of ${domain}: ${Status ?? 'nothing'}.`,
    ...(created && { registered: true }),
  }
}

// Amazon cannot tell now: what it said before goes on.
const readyOf = (status: string | undefined) => (status === 'TEMPORARY_FAILURE' ? null : status === 'SUCCESS')

async function findIdentity({ sdk, manager }: SesManager, domain: string) {
  try {
    return await manager.send(new sdk.GetEmailIdentityCommand({ EmailIdentity: domain }))
  } catch (error) {
    if ((error as Error).name !== 'NotFoundException') throw error
  }
}

/** Gives the domain up; one that is not there is fine. */
export async function removeIdentity({ sdk, manager }: SesManager, domain: string): Promise<void> {
  await manager.send(new sdk.DeleteEmailIdentityCommand({ EmailIdentity: domain })).catch((error) => {
    if ((error as Error).name !== 'NotFoundException') throw error
  })
}

/** False when another process was first. */
async function createIdentity({ sdk, manager }: SesManager, domain: string): Promise<boolean> {
  const signing = { NextSigningKeyLength: 'RSA_2048_BIT' } as const
  const command = new sdk.CreateEmailIdentityCommand({
    EmailIdentity: domain,
    DkimSigningAttributes: signing,
  })
  try {
    await manager.send(command)
    return true
  } catch (error) {
    if ((error as Error).name !== 'AlreadyExistsException') throw error
    return false
  }
}

/** Should its records be missing, or we not be allowed to set it, Amazon goes on with an envelope of its own. */
async function setMailFrom({ sdk, manager }: SesManager, domain: string): Promise<string | undefined> {
  const MailFromDomain = `bounce.${domain}`
  const command = new sdk.PutEmailIdentityMailFromAttributesCommand({
    EmailIdentity: domain,
    MailFromDomain,
    BehaviorOnMxFailure: 'USE_DEFAULT_VALUE',
  })
  return manager.send(command).then(
    () => MailFromDomain,
    () => undefined,
  )
}

function dkimRecord(domain: string, token: string, zone: string): IdentityRecord {
  const host = `${token}._domainkey.${domain}`
  return { role: 'dkim', type: 'CNAME', host, value: `${token}.${zone}`, required: true }
}

function mailFromRecords(host: string, region: string): IdentityRecord[] {
  const exchange = `10 feedback-smtp.${region}.amazonses.com`
  return [
    { role: 'return_path', type: 'MX', host, value: exchange, required: false },
    { role: 'spf', type: 'TXT', host, value: 'v=spf1 include:amazonses.com ~all', required: false },
  ]
}
