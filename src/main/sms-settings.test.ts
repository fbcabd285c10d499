import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigFault, readConfig } from './config.ts'
import { readSmsUrl } from './sms-settings.ts'

const faultsOf = (env: Record<string, string>): string => {
  try {
    readConfig(env)
    return ''
  } catch (error) {
    if (error instanceof ConfigFault) return error.message
    throw error
  }
}

const ovh = {
  POSTHORN_SMS_TRANSPORT: 'ovh://sms-ab12345-1',
  OVH_APPLICATION_KEY: 'a',
  OVH_APPLICATION_SECRET: 'b',
  OVH_CONSUMER_KEY: 'c',
}

test('each transport is read', () => {
  assert.deepEqual(readSmsUrl('capture'), { kind: 'capture' })
  assert.deepEqual(readSmsUrl('sns://eu-west-3'), {
    kind: 'sns',
    region: 'eu-west-3',
    configurationSet: undefined,
  })
  assert.deepEqual(readSmsUrl('sns://eu-west-3?configuration-set=a_b-1'), {
    kind: 'sns',
    region: 'eu-west-3',
    configurationSet: 'a_b-1',
  })
  assert.deepEqual(readSmsUrl('ovh://sms-ab12345-1'), { kind: 'ovh', service: 'sms-ab12345-1' })
  assert.equal(faultsOf(ovh), '')
  assert.equal(faultsOf({ ...ovh, OVH_ENDPOINT: 'http://127.0.0.1:1/1.0' }), '')
})

test('what is wrong or missing is told in one line', () => {
  const told: [Record<string, string>, RegExp][] = [
    [{ POSTHORN_SMS_TRANSPORT: 'pigeon' }, /^POSTHORN_SMS_TRANSPORT must be capture, sns:\/\/REGION or ovh/],
    [{ POSTHORN_SMS_TRANSPORT: 'sns://' }, /^POSTHORN_SMS_TRANSPORT must name a region/],
    [{ POSTHORN_SMS_TRANSPORT: 'ovh://a b' }, /^POSTHORN_SMS_TRANSPORT must name an SMS service/],
    [
      { POSTHORN_SMS_TRANSPORT: 'sns://eu-west-3' },
      /^AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are missing/,
    ],
    [
      { ...ovh, OVH_CONSUMER_KEY: '' },
      /^OVH_CONSUMER_KEY is missing; POSTHORN_SMS_TRANSPORT ovh:\/\/ needs it$/,
    ],
    [{ ...ovh, OVH_ENDPOINT: 'x' }, /^OVH_ENDPOINT must be ovh-eu, ovh-ca or an address/],
    [{ POSTHORN_SMS_STOP: '36111' }, /^POSTHORN_SMS_STOP must be such as STOP 36111/],
    [{ POSTHORN_OVH_HOOK_TOKEN: 'short' }, /^POSTHORN_OVH_HOOK_TOKEN must have 16 to 128 .*$/],
  ]
  for (const [env, words] of told) {
    assert.match(faultsOf(env), words)
    assert.doesNotMatch(faultsOf(env), /short|\n/)
  }
  assert.equal(faultsOf({ OVH_ENDPOINT: 'soyoustart-eu' }), '', 'nobody uses it')
})
