// The delivery engine with the transport that the configuration names.
import { openSmtpTransport } from '../adapters/smtp-transport/smtp-transport.ts'
import { captureTransport } from '../features/messages/capture.ts'
import { type Delivery, startDelivery } from '../features/messages/deliver.ts'
import type { TrackingKeys } from '../features/messages/tracking/tokens.ts'
import { trackHtml } from '../features/messages/tracking/track-message.ts'
import type { Db } from '../kernel/db.ts'
import type { Log } from '../kernel/log.ts'
import type { Transport } from '../kernel/ports.ts'
import type { Config } from './config.ts'

export type DeliveryOptions = {
  config: Pick<Config, 'transport' | 'retryFactor'>
  db: Db
  log: Log
  now: () => Date
  trackingKeys: TrackingKeys
  baseUrl: string
}

export function openDelivery({ config, db, log, now, trackingKeys, baseUrl }: DeliveryOptions): Delivery {
  const capture = captureTransport(db, now)
  const transport = openTransport(config.transport, capture)
  const delivery = startDelivery({
    db,
    log,
    now,
    transport,
    capture,
    retryFactor: config.retryFactor,
    // No domain has a key before domains can be declared; then the upstream's own signature is all there is.
    findDkimKeys: async () => [],
    track: (due, html) => trackHtml({ db, keys: trackingKeys, baseUrl }, due, html),
  })
  return {
    wake: delivery.wake,
    stop: async () => {
      await delivery.stop()
      await transport.close()
    },
  }
}

function openTransport(url: string, capture: Transport): Transport {
  return url === 'capture' ? capture : openSmtpTransport({ url })
}
