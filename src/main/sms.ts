// SMS with the transport that the configuration names.
import { openAwsSms } from '../adapters/aws-sms/aws-sms.ts'
import { openGuardedClient } from '../adapters/guarded-http/guarded-http.ts'
import { openOvhSms } from '../adapters/ovh-sms/ovh-sms.ts'
import { sendAsyncTransacSms, sendTransacSms } from '../features/sms/api.v3.ts'
import { captureSms } from '../features/sms/capture.ts'
import { type SmsDelivery, startSmsDelivery } from '../features/sms/deliver.ts'
import { listSandboxSms } from '../features/sms/sandbox.api.own.ts'
import type { SmsNeeds } from '../features/sms/send-sms.ts'
import { getAggregatedSmsReport, getSmsReports, listSmsEventsV3 } from '../features/sms/statistics.api.v3.ts'
import { listSmsTemplatesV3 } from '../features/sms/templates.api.v3.ts'
import type { Db } from '../kernel/db.ts'
import type { Log } from '../kernel/log.ts'
import type { Operation } from '../kernel/operation.ts'
import type { SmsTransport } from '../kernel/ports.ts'
import { type Config, quietAwsSdk } from './config.ts'
import { ovhAddress, readSmsUrl } from './sms-settings.ts'

export function smsOperations(needs: SmsNeeds): Operation[] {
  return [
    sendTransacSms(needs),
    sendAsyncTransacSms(needs),
    getAggregatedSmsReport,
    getSmsReports,
    listSmsEventsV3,
    listSmsTemplatesV3,
    listSandboxSms,
  ]
}

export type SmsConfig = Pick<
  Config,
  | 'smsTransport'
  | 'smsStop'
  | 'awsAccessKeyId'
  | 'awsSecretAccessKey'
  | 'awsSessionToken'
  | 'awsEndpoint'
  | 'ovhEndpoint'
  | 'ovhApplicationKey'
  | 'ovhApplicationSecret'
  | 'ovhConsumerKey'
>

export function smsNeedsOf({ smsTransport, smsStop }: Pick<Config, 'smsTransport' | 'smsStop'>): SmsNeeds {
  // OVH writes one itself.
  return { stop: { text: smsStop, byUpstream: readSmsUrl(smsTransport).kind === 'ovh' } }
}

/** Undefined where SMS are captured. */
export async function openSmsUpstream(config: SmsConfig, now: () => Date): Promise<SmsTransport | undefined> {
  const wanted = readSmsUrl(config.smsTransport)
  if (wanted.kind === 'sns') {
    quietAwsSdk()
    const { awsAccessKeyId = '', awsSecretAccessKey = '', awsSessionToken: sessionToken } = config
    const credentials = { accessKeyId: awsAccessKeyId, secretAccessKey: awsSecretAccessKey, sessionToken }
    return openAwsSms({ ...wanted, endpoint: config.awsEndpoint, credentials })
  }
  return wanted.kind === 'ovh' ? openOvh(config, wanted.service, now) : undefined
}

function openOvh(config: SmsConfig, service: string, now: () => Date): SmsTransport {
  const { ovhApplicationKey = '', ovhApplicationSecret = '', ovhConsumerKey = '' } = config
  const endpoint = ovhAddress(config.ovhEndpoint) ?? ''
  // An address that the operator set may be on a private network.
  const client = openGuardedClient({ allowPrivate: endpoint === config.ovhEndpoint })
  const ovh = openOvhSms({
    service,
    endpoint,
    applicationKey: ovhApplicationKey,
    applicationSecret: ovhApplicationSecret,
    consumerKey: ovhConsumerKey,
    now,
    request: client.request,
  })
  return { ...ovh, close: () => client.close() }
}

export type SmsDeliveryOptions = {
  config: SmsConfig & Pick<Config, 'retryFactor' | 'leaseSeconds'>
  db: Db
  log: Log
  now: () => Date
}

export async function openSmsDelivery({ config, db, log, now }: SmsDeliveryOptions): Promise<SmsDelivery> {
  const capture = captureSms(db, now)
  const transport = (await openSmsUpstream(config, now)) ?? capture
  const { retryFactor, leaseSeconds } = config
  const delivery = startSmsDelivery({ db, log, now, transport, capture, retryFactor, leaseSeconds })
  return {
    wake: delivery.wake,
    stop: async () => {
      await delivery.stop()
      await transport.close()
    },
  }
}
