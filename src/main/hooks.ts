// The feedback of each upstream: its verification, its reader, and the way to the outside that both need.
import type { GuardedRequests } from '../adapters/guarded-http/guarded-http.ts'
import { FeedbackFault as ScalewayFault } from '../adapters/scaleway/fault.ts'
import { readScalewayEvents } from '../adapters/scaleway/feedback.ts'
import { confirmTopic, verifyTopicMessage } from '../adapters/scaleway/topics.ts'
import { FeedbackFault as SesFault } from '../adapters/ses/fault.ts'
import { readSesEvents } from '../adapters/ses/feedback.ts'
import { confirmSubscription, rememberCertificates, verifySnsMessage } from '../adapters/ses/sns.ts'
import type { ReadFeedback } from '../faces/http/hooks.ts'
import {
  feedbackMalformed,
  feedbackUnavailable,
  feedbackUntrusted,
} from '../features/messages/feedback-refusals.ts'
import type { Feedback } from '../features/messages/record-feedback.ts'
import type { Log } from '../kernel/log.ts'

export type HookNeeds = { topics: readonly string[]; client: GuardedRequests; log: Log }

type Provider = Feedback['provider']

type Envelope = { type: string; messageId: string; topicArn: string; message: string; at: Date }

type Way<E extends Envelope, P extends string, T> = {
  provider: P
  verify(body: Buffer, now: Date): Promise<E>
  confirm(envelope: E): Promise<void>
  events(message: string, at: Date): T[]
}

export function openHooks({ topics, client, log }: HookNeeds): Record<Provider, ReadFeedback> {
  const { certificate, get } = certificatesThrough(client)
  return {
    ses: reader(log, {
      provider: 'ses',
      verify: (body, now) => verifySnsMessage(body, { topics, certificate, now }),
      confirm: (envelope) => confirmSubscription(envelope, get),
      events: readSesEvents,
    }),
    scaleway: reader(log, {
      provider: 'scaleway',
      verify: (body, now) => verifyTopicMessage(body, { topics, certificate, now }),
      confirm: (envelope) => confirmTopic(envelope, get),
      events: readScalewayEvents,
    }),
  }
}

export function certificatesThrough(client: HookNeeds['client']) {
  const get = (url: string) => client.request({ url, maxBytes: 100_000, timeoutMs: 10_000 })
  const certificate = rememberCertificates(async (url) => {
    const { status, body } = await get(url)
    if (status !== 200) throw new Error(`${url} answered ${status}`)
    return body.toString()
  })
  return { certificate, get }
}

export type Read<P extends string, T> = (
  body: Buffer,
  now: Date,
) => Promise<{ provider: P; id: string; events: T[] } | null>

export function reader<E extends Envelope, P extends string, T>(log: Log, way: Way<E, P, T>): Read<P, T> {
  return async (body, now) => {
    try {
      const envelope = await way.verify(body, now)
      const { type, messageId: id, topicArn } = envelope
      if (type === 'Notification')
        return { provider: way.provider, id, events: way.events(envelope.message, envelope.at) }
      const about = { provider: way.provider, topic: topicArn }
      if (type === 'SubscriptionConfirmation') {
        await way.confirm(envelope)
        log.info(about, 'the subscription to feedback is confirmed')
      } else log.error(about, 'the subscription to feedback was ended: nothing will be heard of bounces')
      return null
    } catch (error) {
      throw refusalOf(error)
    }
  }
}

const refusals = {
  malformed: feedbackMalformed,
  untrusted: feedbackUntrusted,
  unavailable: feedbackUnavailable,
}

function refusalOf(error: unknown): unknown {
  if (!(error instanceof SesFault || error instanceof ScalewayFault)) return error
  const message = `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`
  return Object.assign(refusals[error.code]({ message }), { cause: error })
}
