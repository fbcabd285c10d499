import * as webhooks from '../features/webhooks/api.v3.ts'
import * as deliveries from '../features/webhooks/deliveries.api.v3.ts'
import type { WebhookNeeds } from '../features/webhooks/write-webhook.ts'
import type { Operation } from '../kernel/operation.ts'

export function webhookOperations(needs: WebhookNeeds): Operation[] {
  return [
    webhooks.listWebhooksV3(needs),
    webhooks.createWebhookV3(needs),
    webhooks.getWebhookV3(needs),
    webhooks.updateWebhookV3(needs),
    webhooks.deleteWebhookV3,
    webhooks.getWebhookSecretV3(needs),
    webhooks.rotateWebhookSecretV3(needs),
    deliveries.listDeliveriesV3,
    deliveries.replayDeliveryV3,
    deliveries.testWebhookV3,
  ]
}
