import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigFault, quietAwsSdk, readConfig } from './config.ts'
import { concurrencyOf, readTransportUrl, takesMarketing } from './transport-url.ts'
import { openTransport } from './transports.ts'

const faultsOf = (env: Record<string, string>): string => {
  try {
    readConfig(env)
    return ''
  } catch (error) {
    if (error instanceof ConfigFault) return error.message
    throw error
  }
}

test('what an upstream takes is known before it is opened', async () => {
  const given = {
    SCW_SECRET_KEY: 'k',
    SCW_DEFAULT_PROJECT_ID: 'p',
    AWS_ACCESS_KEY_ID: 'a',
    AWS_SECRET_ACCESS_KEY: 's',
  }
  for (const url of ['scaleway://fr-par', 'ses://eu-west-3', 'smtp://127.0.0.1:25']) {
    const config = readConfig({ ...given, POSTHORN_TRANSPORT: url })
    const transport = await openTransport(config, undefined as never)
    assert.equal(transport.takesMarketing, takesMarketing(readTransportUrl(url)), url)
    await transport.close()
  }
})

test('each transport is read', () => {
  assert.deepEqual(readTransportUrl('capture'), { kind: 'capture' })
  assert.deepEqual(readTransportUrl('ses://eu-west-3'), {
    kind: 'ses',
    region: 'eu-west-3',
    configurationSet: undefined,
  })
  assert.deepEqual(readTransportUrl('ses://us-gov-west-1?configuration-set=my_set-1'), {
    kind: 'ses',
    region: 'us-gov-west-1',
    configurationSet: 'my_set-1',
  })
  assert.deepEqual(readTransportUrl('scaleway://fr-par'), { kind: 'scaleway', region: 'fr-par' })
  const smtp = readTransportUrl('smtp://h:25?connections=3')
  assert.deepEqual([smtp.kind, concurrencyOf(smtp)], ['smtp', 6])
})

test('a wrong one is told in one line', () => {
  const wrong: Record<string, RegExp> = {
    'ses://': /^POSTHORN_TRANSPORT must name a region, such as ses:\/\/eu-west-3$/,
    'ses://EU WEST': /must name a region/,
    'scaleway://paris': /must name a region, such as scaleway:\/\/fr-par$/,
    'ses://eu-west-3?set=x': /must have only the option configuration-set/,
    'ses://eu-west-3?configuration-set=a b': /must name its configuration-set/,
    'scaleway://fr-par?x=1': /must have no options/,
    'pigeon://h': /must be capture, smtp:/,
  }
  for (const [value, says] of Object.entries(wrong))
    assert.match(faultsOf({ POSTHORN_TRANSPORT: value }), says, value)
  assert.match(faultsOf({ POSTHORN_SCALEWAY_SMTP: 'capture' }), /^POSTHORN_SCALEWAY_SMTP must be smtp:/)
  assert.match(faultsOf({ POSTHORN_SECRET_KEY: 'short' }), /^POSTHORN_SECRET_KEY must be 32 random octets/)
})

test('missing credentials are named', () => {
  const ses = { POSTHORN_TRANSPORT: 'ses://eu-west-3' }
  assert.equal(
    faultsOf(ses),
    'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY are missing; POSTHORN_TRANSPORT ses:// needs them',
  )
  assert.match(faultsOf({ ...ses, AWS_ACCESS_KEY_ID: 'a' }), /^AWS_SECRET_ACCESS_KEY is missing/)
  assert.equal(faultsOf({ ...ses, AWS_ACCESS_KEY_ID: 'a', AWS_SECRET_ACCESS_KEY: 'b' }), '')
  const scaleway = { POSTHORN_TRANSPORT: 'scaleway://fr-par' }
  assert.match(faultsOf(scaleway), /^SCW_SECRET_KEY and SCW_DEFAULT_PROJECT_ID are missing/)
  assert.equal(faultsOf({ ...scaleway, SCW_SECRET_KEY: 'a', SCW_PROJECT_ID: 'b' }), '')
})

test('secrets and topics are read into their form', () => {
  const key = Buffer.alloc(32, 5)
  for (const form of ['hex', 'base64'] as const)
    assert.deepEqual(readConfig({ POSTHORN_SECRET_KEY: key.toString(form) }).secretKey, key)
  const topics = ['arn:aws:sns:eu-west-3:1:a', 'arn:scw:sns:fr-par:project-x:b']
  assert.deepEqual(readConfig({ POSTHORN_SNS_TOPICS: `${topics.join(', ')},` }).snsTopics, topics)
  assert.throws(() => readConfig({ POSTHORN_SNS_TOPICS: 'bounces' }), /POSTHORN_SNS_TOPICS must name topics/)
})

test('the SDK is silenced, unless the operator says otherwise', () => {
  const env: Record<string, string> = {}
  quietAwsSdk(env)
  assert.equal(env.AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED, 'true')
})
