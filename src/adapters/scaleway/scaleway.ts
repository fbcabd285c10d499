import type { Handover, Outcome, Transport } from '../../kernel/ports.ts'
import { type Api, complaintOf, type HttpRequest, isFine, openApi } from './api.ts'
import { unblock } from './blocklists.ts'
import { readIdentity, removeIdentity } from './identity.ts'
import { outcomeOfAnswer, outcomeOfError } from './outcome.ts'
import { takeApart, withRef } from './take-apart.ts'

export type ScalewayOptions = {
  region: string
  projectId: string
  secretKey: string
  endpoint?: string
  /** For what the interface cannot carry: Scaleway's relay, whose user is the project and whose password the key. */
  smtp?: Transport
  request: HttpRequest
  concurrency?: number
}

type Reached = { api: Api; options: ScalewayOptions }

export function openScalewayTransport(options: ScalewayOptions): Transport {
  const reached = { api: openApi(options), options }
  return {
    kind: 'scaleway',
    signs: true,
    takesMarketing: false,
    concurrency: options.concurrency ?? 5,
    send: (handover) => send(reached, handover),
    verify: () => verify(reached),
    unsuppress: (address) => unblock(reached.api, options.projectId, address),
    identity: (domain) => readIdentity(reached.api, options.projectId, domain),
    removeIdentity: (domain) => removeIdentity(reached.api, options.projectId, domain),
    letGo: () => options.smtp?.letGo?.(),
    close: async () => options.smtp?.close(),
  }
}

async function send({ api, options }: Reached, handover: Handover): Promise<Outcome> {
  // https://www.scaleway.com/en/docs/transactional-email/faq/
  if (handover.stream === 'marketing') {
    return reject('5.7.1', 'Scaleway takes transactional mail only: marketing mail needs another upstream')
  }
  const taken = await takeApart(handover, options.projectId)
  if ('body' in taken) return api.post('emails', taken.body).then(outcomeOfAnswer, outcomeOfError)
  if (options.smtp !== undefined) return options.smtp.send({ ...handover, raw: withRef(handover) })
  return reject(
    '5.6.0',
    `Scaleway's interface cannot carry this message (${taken.why}) and no SMTP relay is set`,
  )
}

const reject = (enhancedCode: string, message: string): Outcome => ({
  kind: 'rejected',
  smtpCode: 550,
  enhancedCode,
  message,
})

async function verify({ api, options }: Reached): Promise<void> {
  const query = { project_id: options.projectId, page_size: '1' }
  const answer = await api.get('domains', query).catch((error) => {
    const words = error instanceof Error ? error.message : String(error)
    throw new Error(`Scaleway cannot be reached: ${words}`, { cause: error })
  })
  if (!isFine(answer)) {
    const { words } = complaintOf(answer)
    throw new Error(
      `Scaleway refuses us (${words}): check the secret key, its right TransactionalEmailFullAccess, ` +
        `the project ${options.projectId} and the region ${options.region}`,
    )
  }
  await options.smtp?.verify()
}
