// What upstreams of SMS report, and how each report is proven to be theirs.
import { createHash, timingSafeEqual } from 'node:crypto'
import { readAwsReports } from '../adapters/aws-sms/reports.ts'
import { readOvhReport } from '../adapters/ovh-sms/reports.ts'
import { confirmSubscription, verifySnsMessage } from '../adapters/ses/sns.ts'
import type { SmsHooks } from '../faces/http/sms-hooks.ts'
import { feedbackMalformed } from '../features/messages/feedback-refusals.ts'
import type { SmsReport } from '../kernel/ports.ts'
import { notFound } from '../kernel/refusals.ts'
import { certificatesThrough, type HookNeeds, reader } from './hooks.ts'

export function openSmsHooks({ topics, client, log }: HookNeeds, ovhToken: string | undefined): SmsHooks {
  const { certificate, get } = certificatesThrough(client)
  const readSns = reader(log, {
    provider: 'sns-sms',
    verify: (body, now) => verifySnsMessage(body, { topics, certificate, now }),
    confirm: (envelope) => confirmSubscription(envelope, get),
    events: awsReports,
  })
  return {
    sns: async (body, now) => {
      const read = await readSns(body, now)
      return read && { provider: read.provider, id: read.id, reports: read.events }
    },
    ovh: async (token, query, now) => {
      if (ovhToken === undefined || !isSame(token, ovhToken)) throw notFound()
      const report = readOvhReport(query, now)
      if (!report) return null
      const id = createHash('sha256')
        .update(nameOfCall(query, report, now))
        .digest('hex')
      return { provider: 'ovh-sms', id, reports: [report] }
    },
  }
}

function awsReports(message: string, at: Date): SmsReport[] {
  const reports = readAwsReports(message, at)
  if (!reports) throw feedbackMalformed()
  return reports
}

const repeatedMs = 10 * 60_000

/**
 * The same call again is the same text. Of answers without a time that holds for a while only: whoever writes STOP to
 * one account today and to another next week means both.
 */
function nameOfCall(query: object, report: SmsReport, now: Date): string {
  const said = JSON.stringify(query)
  const isTimed = report.kind === 'status' || 'date' in query
  return isTimed ? said : `${said} ${Math.floor(now.getTime() / repeatedMs)}`
}

function isSame(given: string, wanted: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(given), digest(wanted))
}
