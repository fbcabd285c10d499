// SMS through OVHcloud: https://eu.api.ovh.com/console/#/sms/%7BserviceName%7D/jobs~POST
import type { SmsHandover, SmsOutcome, SmsTransport } from '../../kernel/ports.ts'
import { type Api, type ApiOptions, type HttpAnswer, openApi } from './api.ts'
import { outcomeOf, outcomeOfFailure } from './outcome.ts'

export type OvhSmsOptions = ApiOptions & { service: string; concurrency?: number }

export function openOvhSms(options: OvhSmsOptions): SmsTransport {
  const api = openApi(options)
  const service = encodeURIComponent(options.service)
  return {
    kind: 'ovh',
    concurrency: options.concurrency ?? 5,
    // It counts in minutes.
    shortestLifeSeconds: 60,
    send: (handover) => send(api, service, handover),
    verify: () => verify(api, service),
    close: async () => {},
  }
}

async function send(api: Api, service: string, handover: SmsHandover): Promise<SmsOutcome> {
  try {
    return outcomeOf(await api.post(`/sms/${service}/jobs`, jobOf(handover)))
  } catch (error) {
    return outcomeOfFailure(error)
  }
}

function jobOf({ sender, recipient, content, encoding, type, lifeSeconds, id }: SmsHandover) {
  return {
    sender,
    receivers: [recipient],
    message: content,
    charset: 'UTF-8',
    // Its word for UCS-2.
    coding: encoding === 'gsm7' ? '7bit' : '8bit',
    class: 'phoneDisplay',
    priority: 'high',
    // Without the clause OVH neither adds the mention of STOP nor keeps its own hours: never for marketing.
    noStopClause: type === 'transactional',
    tag: id,
    ...(lifeSeconds !== null && { validityPeriod: Math.floor(lifeSeconds / 60) }),
  }
}

async function verify(api: Api, service: string): Promise<void> {
  const answer: HttpAnswer = await api.get(`/sms/${service}`)
  if (answer.status === 200) return
  const outcome = outcomeOf(answer)
  const said = 'message' in outcome ? outcome.message : ''
  throw new Error(
    `OVH does not let us use ${decodeURIComponent(service)}: ${said}. Check the service and the keys`,
  )
}
