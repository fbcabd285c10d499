import type { KeyObject } from 'node:crypto'
import { seal } from '../../kernel/seal.ts'

export type DkimRef = { accountId: string; domain: string; selector: string }

/** The newest first: it seals; all of them open. */
export type SecretKeys = () => Promise<Buffer[]>

export const dkimLabel = ({ accountId, domain, selector }: DkimRef) =>
  `dkim ${accountId} ${domain} ${selector}`

export async function sealDkimKey(
  secretKeys: SecretKeys,
  ref: DkimRef,
  privateKey: KeyObject,
): Promise<Buffer> {
  const [newest] = await secretKeys()
  if (!newest) throw new Error('there is no secret key')
  return seal(newest, privateKey.export({ type: 'pkcs8', format: 'der' }), dkimLabel(ref))
}
