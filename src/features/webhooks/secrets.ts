// What a receiver trusts: the signing secret, its authorization and headers; sealed in the database.
import { randomBytes } from 'node:crypto'
import { seal, unseal } from '../../kernel/seal.ts'

/** The newest first: it seals; all of them open. */
export type SecretKeys = () => Promise<Buffer[]>

export type Secrets = {
  /** whsec_ and base64. */
  secret: string
  /** Those before it, the latest first: they sign as well until receivers know the new one. */
  replaced?: Replaced[]
  /** Bearer. */
  token?: string
  /** user:password, as they stood in the address. */
  basic?: string
  headers: { key: string; value: string }[]
}

export type Replaced = { secret: string; until: string }

export const newSecret = () => `whsec_${randomBytes(32).toString('base64')}`

type Owner = { accountId: string; id: string }

const labelOf = ({ accountId, id }: Owner) => `webhook ${accountId} ${id}`

export async function sealSecrets(keys: SecretKeys, owner: Owner, secrets: Secrets): Promise<Buffer> {
  const [newest] = await keys()
  if (!newest) throw new Error('there is no secret key')
  return seal(newest, Buffer.from(JSON.stringify(secrets)), labelOf(owner))
}

export async function openSecrets(keys: SecretKeys, owner: Owner, sealed: Buffer): Promise<Secrets> {
  return JSON.parse(unseal(await keys(), sealed, labelOf(owner)).toString())
}
