// The upstream that the configuration names.
import { openScalewayTransport } from '../adapters/scaleway/scaleway.ts'
import { openSesTransport } from '../adapters/ses/ses.ts'
import { openSmtpTransport } from '../adapters/smtp-transport/smtp-transport.ts'
import type { Identity, Transport } from '../kernel/ports.ts'
import { type Config, quietAwsSdk } from './config.ts'
import { concurrencyOf, readTransportUrl, type TransportUrl } from './transport-url.ts'

export type TransportConfig = Pick<
  Config,
  | 'transport'
  | 'awsAccessKeyId'
  | 'awsSecretAccessKey'
  | 'awsSessionToken'
  | 'awsEndpoint'
  | 'scalewayKey'
  | 'scalewayProject'
  | 'scalewayDefaultProject'
  | 'scalewayEndpoint'
  | 'scalewaySmtp'
>

export async function openTransport(config: TransportConfig, capture: Transport): Promise<Transport> {
  const wanted = readTransportUrl(config.transport)
  switch (wanted.kind) {
    case 'capture':
      return capture
    case 'smtp':
      return openSmtpTransport({ url: wanted.url })
    case 'ses':
      return openSes(config, wanted)
    case 'scaleway':
      return openScaleway(config, wanted)
  }
}

/** Sending domains at an upstream that signs; it is opened with the first one. Undefined where we sign ourselves. */
export function openIdentity(config: TransportConfig): ((domain: string) => Promise<Identity>) | undefined {
  const wanted = readTransportUrl(config.transport)
  if (wanted.kind === 'capture' || wanted.kind === 'smtp') return undefined
  let opened: Promise<Transport> | undefined
  return async (domain) => {
    opened ??= wanted.kind === 'ses' ? openSes(config, wanted) : openScaleway(config, wanted)
    const { identity } = await opened
    if (!identity) throw new Error(`the transport ${wanted.kind} has no sending domains`)
    return identity(domain)
  }
}

type Of<K> = Extract<TransportUrl, { kind: K }>

async function openSes(config: TransportConfig, wanted: Of<'ses'>): Promise<Transport> {
  const { awsAccessKeyId: accessKeyId, awsSecretAccessKey: secretAccessKey } = config
  quietAwsSdk()
  const ses = await openSesTransport({
    region: wanted.region,
    configurationSet: wanted.configurationSet,
    endpoint: config.awsEndpoint,
    concurrency: concurrencyOf(wanted),
    credentials:
      accessKeyId && secretAccessKey
        ? { accessKeyId, secretAccessKey, sessionToken: config.awsSessionToken }
        : undefined,
  })
  return { ...ses, perSecond: async () => (await ses.quota()).perSecond }
}

async function openScaleway(config: TransportConfig, wanted: Of<'scaleway'>): Promise<Transport> {
  const { openGuardedClient } = await import('../adapters/guarded-http/guarded-http.ts')
  const projectId = config.scalewayDefaultProject ?? config.scalewayProject ?? ''
  const secretKey = config.scalewayKey ?? ''
  const { scalewayEndpoint: endpoint } = config
  // An address that the operator set may be on a private network.
  const client = openGuardedClient({ allowPrivate: endpoint !== undefined })
  const scaleway = openScalewayTransport({
    region: wanted.region,
    projectId,
    secretKey,
    endpoint,
    concurrency: concurrencyOf(wanted),
    smtp: openSmtpTransport({ url: config.scalewaySmtp ?? scalewayRelay(projectId, secretKey) }),
    request: client.request,
  })
  return {
    ...scaleway,
    close: async () => {
      await scaleway.close()
      await client.close()
    },
  }
}

const scalewayRelay = (project: string, key: string) =>
  `smtps://${encodeURIComponent(project)}:${encodeURIComponent(key)}@smtp.tem.scaleway.com:465`
