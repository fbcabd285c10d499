// What rates are of. Not every upstream tells of deliveries: what it took then stays sent.

type Told = { sent: number; delivered: number; bounced: number }

/** Those who could have read it: delivered to or, where no delivery is known, sent to without a bounce. */
export function reachedOf({ sent, delivered, bounced }: Told): number {
  return delivered > 0 ? delivered : Math.max(0, sent - bounced)
}

/** Of what was sent and did not bounce, none delivered: nobody tells. */
export function areDeliveriesKnown({ sent, delivered, bounced }: Told): boolean {
  return delivered > 0 || sent <= bounced
}
