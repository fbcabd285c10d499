// What upstreams of SMS report, and how each report is proven to be theirs.
import { createHash, timingSafeEqual } from 'node:crypto'
import { readAwsReports } from '../adapters/aws-sms/reports.ts'
import { readOvhReport } from '../adapters/ovh-sms/reports.ts'
import { confirmSubscription, verifySnsMessage } from '../adapters/ses/sns.ts'
import type { SmsHooks } from '../faces/http/sms-hooks.ts'
import { feedbackMalformed } from '../features/messages/feedback-refusals.ts'
import type { SmsFeedback } from '../features/sms/record-reports.ts'
import { notFound } from '../kernel/refusals.ts'
import { certificatesThrough, type HookNeeds, refusalOf } from './hooks.ts'

export function openSmsHooks(needs: HookNeeds, ovhToken: string | undefined): SmsHooks {
  const { certificate, get } = certificatesThrough(needs.client)
  return {
    sns: async (body, now) => {
      try {
        const envelope = await verifySnsMessage(body, { topics: needs.topics, certificate, now })
        if (envelope.type === 'Notification') return awsFeedback(envelope)
        if (envelope.type === 'SubscriptionConfirmation') await confirmSubscription(envelope, get)
        needs.log.info({ topic: envelope.topicArn, type: envelope.type }, 'subscription to reports about SMS')
        return null
      } catch (error) {
        throw refusalOf(error)
      }
    },
    ovh: async (token, query, now) => {
      if (ovhToken === undefined || !isSame(token, ovhToken)) throw notFound()
      const report = readOvhReport(query, now)
      if (!report) return null
      // The same call again is the same text.
      const id = createHash('sha256').update(JSON.stringify(query)).digest('hex')
      return { provider: 'ovh-sms', id, reports: [report] }
    },
  }
}

function awsFeedback({
  messageId,
  message,
  at,
}: {
  messageId: string
  message: string
  at: Date
}): SmsFeedback {
  const reports = readAwsReports(message, at)
  if (!reports) throw feedbackMalformed()
  return { provider: 'sns-sms', id: messageId, reports }
}

function isSame(given: string, wanted: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(wanted))
}
