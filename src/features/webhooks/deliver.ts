// Webhooks take turns: claim some that have events waiting, commit, call their receivers outside any transaction,
// record what came of it. One process at a time serves a webhook; those in trouble are served apart from the others.
import { setTimeout as sleep } from 'node:timers/promises'
import type { Db } from '../../kernel/db.ts'
import { gather } from '../../kernel/gather.ts'
import { newUuid } from '../../kernel/id.ts'
import type { Log } from '../../kernel/log.ts'
import { surely } from '../../kernel/surely.ts'
import { defaults } from '../accounts/settings/settings.ts'
import type { FindUnsubscribeKeys } from '../contacts/unsubscribe/tokens.ts'
import { mirrorUrl } from '../messages/mirror-link.ts'
import { callTimeoutMs, type Post } from './call.ts'
import { type EndedTurn, recordTurns } from './end-turn.ts'
import { type Feed, openFeed } from './feed.ts'
import {
  claimTurns,
  loadBatch,
  loadDue,
  type QueuedRow,
  recordCalls,
  type Tried,
  type TurnRow,
} from './queue-queries.ts'
import { openSecrets, type SecretKeys } from './secrets.ts'
import { signerOf } from './sign.ts'
import { openRecorder, type Sent, sendEach, sendTogether, type Turn } from './turn.ts'

export type WebhookDeliveryNeeds = {
  db: Db
  /** What it commits may be lost with the last moment before a power cut: a call is then made again. */
  quick: Db
  log: Log
  now: () => Date
  retryFactor: number
  /** A crashed worker's webhooks wait this long. */
  leaseSeconds: number
  secretKeys: SecretKeys
  post: Post
  unsubscribeKeys: FindUnsubscribeKeys
  baseUrl: string
  /** Cuts off the calls that are under way. */
  close: () => Promise<void>
}

export type WebhookDelivery = {
  /** Something may be due at once. */
  wake(): void
  stop(): Promise<void>
}

const idleMs = 500
const gatheredMs = 5 * 60_000
const perTurn = 400
// Small enough that neither the database nor this process is busy with one for long while receivers wait.
const perFetch = 200
// Where many have a turn, each begins with less: nobody waits for all that the others have to send to be read.
const fewTurns = 8
const turnsAtOnce = { well: 100, inTrouble: 50 }
// What is under way when the process is told to stop has this long.
const graceMs = 7_000

export function startWebhookDelivery(needs: WebhookDeliveryNeeds): WebhookDelivery {
  const lanes = [startLane(needs, false, turnsAtOnce.well), startLane(needs, true, turnsAtOnce.inTrouble)]
  const wake = () => {
    for (const lane of lanes) lane.wake()
  }
  return {
    wake,
    async stop() {
      const stopped = Promise.all(lanes.map((lane) => lane.stop()))
      await Promise.race([stopped, sleep(graceMs, undefined, { ref: false })])
      for (const lane of lanes) lane.cutOff()
      await needs.close()
      await stopped
    },
  }
}

type Lane = WebhookDelivery & { cutOff(): void }

function startLane(needs: WebhookDeliveryNeeds, inTrouble: boolean, most: number): Lane {
  const end = gather((ended: EndedTurn[]) => recordTurns(needs, ended))
  const running = new Set<Promise<void>>()
  let isStopping = false
  let isCutOff = false
  let isAwake = false
  let wakeUp = () => {}

  const wake = () => {
    isAwake = true
    wakeUp()
  }

  function idle(): Promise<void> {
    if (isAwake || isStopping) return Promise.resolve()
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, idleMs)
      wakeUp = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  async function begin(): Promise<number> {
    const now = needs.now()
    const gatheredSince = new Date(now.getTime() - gatheredMs * needs.retryFactor)
    const { leaseSeconds } = needs
    const places = Math.min(50, most - running.size)
    if (places === 0) return 0
    const claimedAt = performance.now()
    const claim = { inTrouble, limit: places, leaseSeconds, now, gatheredSince }
    const turns = await claimTurns(needs.db, claim)
    const limit = turns.length > fewTurns ? perTurn / fewTurns : perTurn
    const due = await dueOf(needs, turns, { now, limit })
    for (const turn of turns) {
      const serving = serve({ turn, queued: due.get(turn.id) ?? [], limit, claimedAt })
      running.add(serving)
      serving.finally(() => {
        running.delete(serving)
        wake()
      })
    }
    return turns.length
  }

  async function serve(claimed: Claimed): Promise<void> {
    try {
      const isOver = () => isStopping || running.size >= most
      const state = { isOver, isStopping: () => isStopping, isCutOff: () => isCutOff }
      const record = (tried: Tried[]) => keep(() => recordCalls(needs.quick, tried))
      const sent = await takeTurn(needs, claimed, { ...state, record })
      await keep(() => end({ turn: claimed.turn, sent }))
    } catch (error) {
      // The lease gives it back.
      needs.log.error({ err: error, webhook: claimed.turn.id }, 'a turn of a webhook failed')
    }
  }

  // While the database is away, or others are in the way, the turn is kept: what it has sent would be sent again.
  const keep = (write: () => Promise<unknown>) => surely(write, () => isStopping)

  async function loop(): Promise<void> {
    while (!isStopping) {
      isAwake = false
      const begun = await begin().catch((error) => {
        needs.log.error({ err: error, inTrouble }, 'claiming webhooks failed')
        return 0
      })
      if (begun === 0) await idle()
    }
    await Promise.all(running)
  }

  const looping = loop()
  return {
    wake,
    cutOff() {
      isCutOff = true
    },
    async stop() {
      isStopping = true
      wake()
      await looping
    },
  }
}

async function dueOf(
  { db }: WebhookDeliveryNeeds,
  turns: TurnRow[],
  { now, limit }: { now: Date; limit: number },
): Promise<Map<string, QueuedRow[]>> {
  const due = new Map<string, QueuedRow[]>(turns.map(({ id }) => [id, []]))
  const single = turns.filter(({ batched }) => !batched).map(({ id }) => id)
  const found = single.length > 0 ? await loadDue(db, single, { now, limit }) : []
  for (const one of found) due.get(one.webhook_id)?.push(one)
  for (const { id, batched } of turns)
    if (batched) due.set(id, await loadBatch(db, id, { now, batchId: newUuid() }))
  return due
}

type Claimed = {
  turn: TurnRow
  queued: QueuedRow[]
  /** How many were asked for: with fewer there are no others. */
  limit: number
  claimedAt: number
}
type State = Pick<Turn, 'record' | 'isCutOff'> & {
  isStopping: () => boolean
  /** Others wait for their turn. */
  isOver: () => boolean
}

async function takeTurn(needs: WebhookDeliveryNeeds, claimed: Claimed, state: State): Promise<Sent> {
  const { turn, queued } = claimed
  const open = await openTurn(needs, claimed, state)
  if (turn.batched) return sendTogether(open, queued)
  const recorder = openRecorder(open)
  try {
    return await sendEach(open, feedOf(needs, claimed, state.isOver), recorder)
  } finally {
    await recorder.end()
  }
}

function feedOf(needs: WebhookDeliveryNeeds, { turn, queued, limit }: Claimed, isOver: () => boolean): Feed {
  let isAll = queued.length < limit
  const more = async (last: QueuedRow) => {
    if (isAll || isOver()) return []
    const found = await loadDue(needs.db, [turn.id], { now: needs.now(), limit: perFetch, after: last })
    isAll = found.length < perFetch
    return found
  }
  return openFeed({ first: queued, more })
}

async function openTurn(
  needs: WebhookDeliveryNeeds,
  { turn, claimedAt }: Claimed,
  { isStopping, isCutOff, record }: State,
): Promise<Turn> {
  const secrets = await openSecrets(
    needs.secretKeys,
    { accountId: turn.account_id, id: turn.id },
    turn.sealed,
  )
  const links = { keys: await needs.unsubscribeKeys(), baseUrl: needs.baseUrl }
  // A third of the lease to begin calls, a third for the last of them to end: after its end another has the webhook.
  const third = (needs.leaseSeconds * 1000) / 3
  return {
    ...needs,
    url: turn.url,
    signer: signerOf(secrets),
    timeoutMs: callTimeoutMs(needs.leaseSeconds),
    told: {
      webhookId: turn.id,
      timezone: turn.timezone ?? defaults.timezone,
      pageOf: (messageId) => mirrorUrl(links, { accountId: turn.account_id, messageId }),
    },
    isFailing: turn.failing_since !== null,
    isOver: () => isStopping() || performance.now() - claimedAt > third,
    isCutOff,
    record,
  }
}
