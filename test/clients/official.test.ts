// Every operation of the provider's own clients that is in scope, against a running service, with nothing changed but
// the address.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type App, makeApp } from '../app.ts'
import { memoryStorage, servesImage } from '../contract/media-examples.ts'
import { type Client, middle, newest, oldest } from './clients.ts'
import { borne, broken, excluded, outside, resources } from './scope.ts'
import { accountSteps } from './steps/account.ts'
import { campaignSteps } from './steps/campaigns.ts'
import { contactSteps, lastContactSteps } from './steps/contacts.ts'
import { emailSteps, lastEmailSteps } from './steps/emails.ts'
import { smsSteps } from './steps/sms.ts'
import type { AccountApp, State, Step } from './steps/step.ts'
import { typesOf } from './typed.ts'

const app = await makeApp({
  deliver: true,
  sms: true,
  env: { POSTHORN_RATE_LIMIT_FACTOR: '100', POSTHORN_SECRET_KEY: '11'.repeat(32) },
  fetchClient: servesImage,
  storage: memoryStorage(),
})

const steps: Step[] = [
  ...contactSteps,
  ...emailSteps,
  ...campaignSteps,
  ...accountSteps,
  ...smsSteps,
  ...lastContactSteps,
  ...lastEmailSteps,
]
const inScope = (method: string) => resources.includes(method.split('.')[0] ?? '')

async function accountOf(service: App): Promise<AccountApp & { url: string; key: string }> {
  const { key } = await service.makeAccount()
  const call: AccountApp['call'] = (method, path, body) => service.call(method, path, { key, body })
  await call('PUT', '/api/v1/settings', { provider_compatibility: true })
  return { url: service.url, key, call }
}

const accounts = await Promise.all(Array.from({ length: 4 }, () => accountOf(app)))
const [first, second, third, fourth] = accounts as [Account, Account, Account, Account]
type Account = Awaited<ReturnType<typeof accountOf>>

const clients: [Client, Account][] = [
  [newest(first), first],
  [middle(3, second), second],
  [middle(2, third), third],
  [oldest(fourth), fourth],
]

for (const [number, [client, account]] of clients.entries()) {
  describe(client.name, () => {
    const faultsIn = typesOf(client)
    const state: State = {
      senderEmail: `shop${number}@sender${number}.example`,
      domain: `shop${number}.example`,
    }
    const cannot = broken[client.name] ?? {}
    const bears = Object.keys(borne[client.name] ?? {})
    for (const step of steps.filter(({ does }) => client.offers.includes(does))) {
      if (cannot[step.does]) {
        test(`${step.does} cannot be done: ${cannot[step.does]}`, async () => {
          await assert.rejects(client.call(step.does, { args: step.args?.(state) ?? {} }))
          await step.otherwise?.(state, account)
        })
        continue
      }
      test(`${step.does} answers ${step.status ?? 200}`, async () => {
        await step.before?.(state, account)
        const { wrapped, optsBody } = step
        const given = { args: step.args?.(state) ?? {}, body: step.body?.(state), wrapped, optsBody }
        const answer = await client.call(step.does, given).catch((error) => {
          throw new Error(`refused: ${JSON.stringify(client.faultOf(error))}`, { cause: error })
        })
        assert.equal(answer.status, step.status ?? 200)
        step.gives?.(answer.body, state)
        const isEmpty = answer.status === 204 || answer.body === undefined || answer.body === ''
        const faults = isEmpty ? [] : faultsIn(step.does, answer.body)
        assert.deepEqual(
          faults.filter((fault) => !bears.some((place) => fault.startsWith(`${place} is `))),
          [],
        )
      })
    }

    test('every operation in scope is driven, or left out for a reason', () => {
      const driven = new Set(steps.map(({ does }) => does))
      const forgotten = client.offers.filter((one) => inScope(one) && !driven.has(one) && !excluded[one])
      assert.deepEqual(forgotten, [])
    })

    test('its errors show the code and the message', async () => {
      const faultOf = async (method: string, args: object, body?: object) =>
        client.call(method, { args: { ...args }, body }).then(
          () => assert.fail('not refused'),
          (error) => client.faultOf(error),
        )
      const unknown = await faultOf('contacts.getContactInfo', { identifier: 'nobody@example.com' })
      assert.deepEqual(unknown, {
        status: 404,
        code: 'document_not_found',
        message: 'Contact does not exist',
      })
      const empty = await faultOf(
        'transactionalEmails.sendTransacEmail',
        {},
        { to: [{ email: 'a@b.example' }] },
      )
      assert.deepEqual(empty, { status: 400, code: 'missing_parameter', message: 'sender is missing' })
    })
  })
}

test('every resource of the clients is in scope, or outside for a reason', () => {
  const offered = new Set(
    clients.flatMap(([{ offers }]) => offers.map((method) => method.split('.')[0] ?? '')),
  )
  const known = [...resources, ...Object.keys(outside)].sort()
  assert.deepEqual([...offered].sort(), known)
})

test('nothing is left out that no client offers, or that is driven', () => {
  const offered = new Set(clients.flatMap(([{ offers }]) => offers))
  const stale = Object.keys(excluded).filter(
    (one) => !offered.has(one) || steps.some(({ does }) => does === one),
  )
  assert.deepEqual(stale, [])
  const unknown = steps.map(({ does }) => does).filter((one) => !offered.has(one))
  assert.deepEqual(unknown, [])
})
