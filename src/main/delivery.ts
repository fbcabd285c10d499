// The delivery engine with the transport that the configuration names.
import { campaignMail } from '../features/campaigns/sending/campaign-mail.ts'
import { captureTransport } from '../features/messages/capture.ts'
import { type Delivery, startDelivery } from '../features/messages/deliver.ts'
import { dkimKeyFinder } from '../features/messages/dkim-keys.ts'
import { lanes } from '../features/messages/model.ts'
import { linkFiller } from '../features/messages/recipient-links.ts'
import { foreignDomains } from '../features/messages/senders/foreign-domain.ts'
import type { TrackingKeys } from '../features/messages/tracking/tokens.ts'
import { trackingOf } from '../features/messages/tracking/track-message.ts'
import type { Db } from '../kernel/db.ts'
import type { Log } from '../kernel/log.ts'
import type { Transport } from '../kernel/ports.ts'
import type { Config } from './config.ts'
import { openUnsubscribeKeys } from './link-keys.ts'
import { openSecretKeys } from './secret-key.ts'
import { concurrencyOf, readTransportUrl } from './transport-url.ts'
import { openTransport, type TransportConfig } from './transports.ts'

export type DeliveryOptions = {
  config: TransportConfig &
    Pick<Config, 'retryFactor' | 'leaseSeconds' | 'secretKey' | 'dataDir' | 'snsTopics'>
  db: Db
  log: Log
  now: () => Date
  trackingKeys: TrackingKeys
  baseUrl: string
}

export type OpenedDelivery = Delivery & { transport: Transport }

export async function openDelivery(options: DeliveryOptions): Promise<OpenedDelivery> {
  const { config, db, log, now, trackingKeys, baseUrl } = options
  const capture = captureTransport(db, now)
  const transport = await openTransport(config, capture)
  const secretKeys = openSecretKeys(config)
  const unsubscribeKeys = openUnsubscribeKeys(config)
  const delivery = startDelivery({
    db,
    log,
    now,
    transport,
    capture,
    takenIsDelivered: isNobodyTelling(config),
    retryFactor: config.retryFactor,
    leaseSeconds: config.leaseSeconds,
    findDkimKeys: dkimKeyFinder({ db, secretKeys }),
    isForeign: foreignDomains(db),
    secretKeys,
    trackingOf: (due) => trackingOf({ keys: trackingKeys, baseUrl }, due),
    fillIn: linkFiller({ unsubscribeKeys, baseUrl }),
    campaigns: campaignMail({ db, now, baseUrl, unsubscribeKeys }),
  })
  return {
    transport,
    wake: delivery.wake,
    stop: async () => {
      await delivery.stop()
      await transport.close()
    },
  }
}

// Every upstream that tells of deliveries does so through a topic.
const isNobodyTelling = ({ snsTopics = [] }: Pick<Config, 'snsTopics'>) => snsTopics.length === 0

/** How many messages a process may be handing over at once: so many a crash can send twice. */
export function inFlightMessages(transportUrl: string): number {
  return concurrencyOf(readTransportUrl(transportUrl)) * Object.keys(lanes).length
}
