// Requests of the outreach operations that succeed, and what must exist before them.
import { after, type TestContext } from 'node:test'
import { mailServer, serverAt } from '../../src/features/outreach/fixtures/outreach.ts'
import type { App } from '../app.ts'
import { welcomingImap } from '../stand-ins/welcoming-imap.ts'
import type { Example } from './examples.ts'

const base = '/v3/outreach'
const prospect = { email: 'anna@example.com', firstName: 'Anna' }
const identity = { companyName: 'Acme', postalAddress: '1 High Street' }
const steps = [{ subject: 'Hello', text: 'Hello {{ firstName }}' }]

export const outreachExamples: Record<string, Partial<Example>> = {
  'v3.outreach_identity.update': { body: identity },
  'v3.mailbox.create': { body: { email: 'me@acme.example' } },
  'v3.mailbox.get': { path: `${base}/mailboxes/1` },
  'v3.mailbox.update': { path: `${base}/mailboxes/1`, body: { name: 'Max' } },
  'v3.mailbox.delete': { path: `${base}/mailboxes/1` },
  'v3.mailbox.test': { path: `${base}/mailboxes/1/test` },
  'v3.prospect.create': { body: prospect },
  'v3.prospect.delete_many': { body: { emails: [prospect.email], confirm: true } },
  'v3.prospect.get': { path: `${base}/prospects/1` },
  'v3.prospect.update': { path: `${base}/prospects/1`, body: { company: 'Globex' } },
  'v3.prospect.delete': { path: `${base}/prospects/1` },
  'v3.sequence.create': { body: { name: 'First', mailboxIds: [1], steps } },
  'v3.sequence.get': { path: `${base}/campaigns/1` },
  'v3.sequence.update': { path: `${base}/campaigns/1`, body: { name: 'Second' } },
  'v3.sequence.delete': { path: `${base}/campaigns/1` },
  'v3.sequence.enroll': { path: `${base}/campaigns/1/enroll`, body: { emails: [prospect.email] } },
  'v3.sequence.unenroll': { path: `${base}/campaigns/1/unenroll`, body: { emails: [prospect.email] } },
  'v3.sequence.status': { path: `${base}/campaigns/1/status`, body: { status: 'running' } },
  'v3.sequence.stats': { path: `${base}/campaigns/1/stats` },
  'v3.sequence.plan': { path: `${base}/campaigns/1/plan` },
}

type Prepare = (app: App, key: string) => Promise<Partial<Example>>

async function enable(app: App, key: string): Promise<void> {
  await app.call('PUT', '/api/v1/settings', { key, body: { outreach_enabled: true } })
  await app.call('PUT', `${base}/identity`, { key, body: identity })
}

let made = 0

/** Its mail server lives as long as the test that asks for it. */
async function mailboxBody(app: App, key: string) {
  await enable(app, key)
  const { port } = await mailServer({ after } as TestContext)
  const servers = { smtp: serverAt(port), imap: serverAt(await welcomingImap()) }
  return { email: `me${++made}@acme.example`, ...servers }
}

async function mailboxId(app: App, key: string): Promise<number> {
  const body = await mailboxBody(app, key)
  return (await app.call('POST', `${base}/mailboxes`, { key, body })).body.id
}

async function sequenceBody(app: App, key: string) {
  return { name: 'First', mailboxIds: [await mailboxId(app, key)], steps }
}

const enabled: Prepare = async (app, key) => {
  await enable(app, key)
  return {}
}

const ofMailbox =
  (rest = ''): Prepare =>
  async (app, key) => ({ path: `${base}/mailboxes/${await mailboxId(app, key)}${rest}` })

const ofProspect: Prepare = async (app, key) => {
  await enable(app, key)
  const { body } = await app.call('POST', `${base}/prospects`, { key, body: prospect })
  return { path: `${base}/prospects/${body.id}` }
}

const ofSequence =
  (rest = ''): Prepare =>
  async (app, key) => {
    const body = await sequenceBody(app, key)
    const { body: sequence } = await app.call('POST', `${base}/campaigns`, { key, body })
    return { path: `${base}/campaigns/${sequence.id}${rest}` }
  }

export const outreachPrepared: Record<string, Prepare> = {
  'v3.outreach_identity.get': enabled,
  'v3.outreach_identity.update': enabled,
  'v3.mailbox.list': enabled,
  'v3.mailbox.create': async (app, key) => ({ body: await mailboxBody(app, key) }),
  'v3.mailbox.get': ofMailbox(),
  'v3.mailbox.update': ofMailbox(),
  'v3.mailbox.delete': ofMailbox(),
  'v3.mailbox.test': ofMailbox('/test'),
  'v3.prospect.list': enabled,
  'v3.prospect.create': enabled,
  'v3.prospect.delete_many': enabled,
  'v3.prospect.get': ofProspect,
  'v3.prospect.update': ofProspect,
  'v3.prospect.delete': ofProspect,
  'v3.sequence.list': enabled,
  'v3.sequence.create': async (app, key) => ({ body: await sequenceBody(app, key) }),
  'v3.sequence.get': ofSequence(),
  'v3.sequence.update': ofSequence(),
  'v3.sequence.delete': ofSequence(),
  'v3.sequence.enroll': ofSequence('/enroll'),
  'v3.sequence.unenroll': ofSequence('/unenroll'),
  'v3.sequence.status': ofSequence('/status'),
  'v3.sequence.stats': ofSequence('/stats'),
  'v3.sequence.plan': ofSequence('/plan'),
}
