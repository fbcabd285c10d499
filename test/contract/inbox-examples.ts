import { makeOutreach } from '../../src/features/outreach/watching/fixtures/outreach.ts'
import type { App } from '../app.ts'
import type { Dovecot } from '../stand-ins/dovecot.ts'
import type { Example } from './examples.ts'

const path = '/v3/outreach/inbox'

export const inboxExamples: Record<string, Partial<Example>> = {
  'v3.inbox.get': { path: `${path}/1` },
  'v3.inbox.update': { path: `${path}/1`, body: { state: 'read' } },
  'v3.inbox.reply': { path: `${path}/1/reply`, body: { text: 'Thank you.' } },
}

/** A reply of the account of the key; nobody connects to its mailbox. */
const made =
  (rest = '') =>
  async (app: App): Promise<Partial<Example>> => {
    const outreach = makeOutreach(app, { port: 9 } as Dovecot)
    const id = await outreach.makeReply(await outreach.writeTo(await outreach.makeMailbox()))
    return { path: `${path}/${id}${rest}` }
  }

export const inboxPrepared: Record<string, (app: App, key: string) => Promise<Partial<Example>>> = {
  'v3.inbox.list': async (app) => {
    await made()(app)
    return { path }
  },
  'v3.inbox.get': made(),
  'v3.inbox.update': made(),
  'v3.inbox.reply': made('/reply'),
}
