// A running service that plays the provider, with an account full of things, behind a front that stumbles.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after } from 'node:test'
import { type ImportNeeds, workImports } from '../../src/features/contacts/import/work-imports.ts'
import { unsubscribe } from '../../src/features/contacts/unsubscribe/unsubscribe.ts'
import { suppress } from '../../src/features/suppressions/suppressions.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { type App, makeApp } from '../app.ts'

export const people = 1_234

export type Provider = { app: App; key: string; accountId: string }

export async function makeProvider(): Promise<Provider> {
  const app = await makeApp({
    env: { POSTHORN_RATE_LIMIT_FACTOR: '1000', POSTHORN_SECRET_KEY: '11'.repeat(32) },
  })
  const { key, accountId } = app
  const post = async (path: string, body: unknown) => {
    const reply = await app.call('POST', `/v3${path}`, { body })
    if (reply.status >= 300) throw new Error(`${path}: ${reply.text}`)
    return reply.body
  }
  const folder = await post('/contacts/folders', { name: 'Shop' })
  await post('/contacts/folders', { name: 'Empty' })
  const news = await post('/contacts/lists', { name: 'News', folderId: folder.id })
  const vip = await post('/contacts/lists', { name: 'VIP' })
  await declareAttributes(post)
  await importPeople(app, post, { news: news.id, vip: vip.id })
  await blockSome(app, accountId)
  await unsubscribe(app.pools.db, { accountId, email: addressOf(5), listId: String(vip.id) }, new Date())
  await post('/smtp/templates', { ...template, isActive: true })
  await post('/smtp/templates', { ...template, templateName: 'Draft' })
  await post('/senders', { name: 'Shop', email: 'shop@example.com' })
  const hook = { url: 'https://203.0.114.7/hook', events: ['delivered'], description: 'Mine' }
  await post('/webhooks', hook)
  await post('/webhooks', { ...hook, type: 'marketing', events: ['unsubscribed'] })
  await post('/smtp/blockedDomains', { domain: 'blocked.example' })
  return { app, key, accountId }
}

type Post = (path: string, body: unknown) => Promise<{ id: number }>

const template = {
  templateName: 'Receipt',
  subject: 'Order {{ params.order }}',
  sender: { name: 'Shop', email: 'shop@example.com' },
  htmlContent: '<p>Order {{ params.order }}</p>',
  replyTo: 'help@example.com',
  tag: 'receipts',
}

async function declareAttributes(post: Post): Promise<void> {
  await post('/contacts/attributes/normal/CITY', { type: 'text' })
  await post('/contacts/attributes/normal/AGE', { type: 'float' })
  await post('/contacts/attributes/category/SIZE', { enumeration: [{ value: 1, label: 'small' }] })
  const colours = { type: 'multiple-choice', multiCategoryOptions: ['red', 'blue'] }
  await post('/contacts/attributes/normal/COLOURS', colours)
}

const addressOf = (n: number) => `person${n}@example.com`

async function importPeople(app: App, post: Post, lists: { news: number; vip: number }): Promise<void> {
  const entries = Array.from({ length: people }, (_, n) => ({
    email: addressOf(n),
    attributes: { CITY: `City ${n}`, AGE: n % 90, SIZE: 1, COLOURS: n % 2 ? ['red'] : ['red', 'blue'] },
  }))
  const needs: ImportNeeds = {
    db: app.pools.db,
    log: silentLog,
    fetchFile: () => Promise.reject(new Error('there is no file')),
    notify: async () => undefined,
  }
  const load = async (jsonBody: object[], more: object) => {
    await post('/contacts/import', { jsonBody, ...more })
    await workImports(needs, new Date())
  }
  await load(entries, { listIds: [lists.news] })
  await load(entries.slice(0, 10), { listIds: [lists.vip] })
  await load(entries.slice(20, 24), { emailBlacklist: true })
}

async function blockSome({ pools }: App, accountId: string): Promise<void> {
  const why = { source: 'test', messageId: null, at: new Date('2026-03-04T05:06:07.000Z') }
  const block = (email: string, reason: 'hard_bounce' | 'complaint' | 'unsubscribe') =>
    suppress(pools.db, { accountId, email }, { ...why, reason })
  await block('gone@example.com', 'hard_bounce')
  await block('angry@example.com', 'complaint')
  await block(addressOf(30), 'unsubscribe')
}

export type Front = {
  url: string
  requests: string[]
  /** Called before a request is passed on; gives another status to answer with. */
  before: (path: string, n: number) => Promise<Answer | undefined>
}
type Answer = { status: number; headers?: Record<string, string> }

/** Passes requests on to the service. */
export async function openFront(target: string): Promise<Front> {
  const front: Front = { url: '', requests: [], before: async () => undefined }
  const server = createServer(async (request, response) => {
    const path = request.url ?? ''
    front.requests.push(path)
    const instead = await front.before(path, front.requests.length)
    if (instead)
      return void response.writeHead(instead.status, instead.headers).end('{"code":"x","message":"no"}')
    const headers = { 'api-key': String(request.headers['api-key']) }
    const answer = await fetch(target + path, { headers })
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  after(() => {
    server.closeAllConnections()
    server.close()
  })
  front.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return front
}

const by = (field: string) => (a: Record<string, string>, b: Record<string, string>) =>
  String(a[field]).localeCompare(String(b[field]))

type Named = { name: string; id?: number }

/** What an account has, by names instead of numbers. */
export async function contentsOf(app: App, key: string) {
  const get = async (path: string) => (await app.call('GET', `/v3${path}`, { key })).body
  const { folders } = await get('/contacts/folders?limit=50&sort=asc')
  const { lists } = await get('/contacts/lists?limit=50&sort=asc')
  const named = (all: Named[]) => new Map(all.map(({ id, name }) => [id, name]))
  const [folderNames, listNames] = [named(folders), named(lists)]
  const contacts = [
    ...(await get('/contacts?limit=1000&sort=asc')).contacts,
    ...(await get('/contacts?limit=1000&offset=1000&sort=asc')).contacts,
  ]
  const { webhooks } = await get('/webhooks?sort=asc')
  const marketing = (await get('/webhooks?type=marketing')).webhooks
  return {
    folders: folders.map(({ name }: Named) => name),
    lists: lists.map((one: Named & { folderId: number; uniqueSubscribers: number }) => [
      one.name,
      folderNames.get(one.folderId),
      one.uniqueSubscribers,
    ]),
    attributes: (await get('/contacts/attributes')).attributes.sort(by('name')),
    contacts: contacts
      .sort(by('email'))
      .map(({ email, attributes, emailBlacklisted, listIds, listUnsubscribed }) => ({
        email,
        attributes,
        emailBlacklisted,
        lists: listIds.map((id: number) => listNames.get(id)).sort(),
        left: (listUnsubscribed ?? []).map((id: number) => listNames.get(id)),
      })),
    blocked: (await get('/smtp/blockedContacts?limit=100&sort=asc')).contacts
      .map((one: { email: string; reason: { code: string } }) => `${one.email} ${one.reason.code}`)
      .sort(),
    blockedDomains: (await get('/smtp/blockedDomains')).domains,
    templates: (await get('/smtp/templates?sort=asc')).templates.map(
      ({ id: _, createdAt: _c, modifiedAt: _m, ...rest }: Record<string, unknown>) => rest,
    ),
    senders: (await get('/senders')).senders.map(({ name, email }: Record<string, unknown>) => [name, email]),
    webhooks: [...webhooks, ...marketing].map(({ url, type, events, description }) => ({
      url,
      type,
      events,
      description,
    })),
  }
}
