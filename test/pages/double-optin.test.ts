import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, describe, test } from 'node:test'
import { insertAccount } from '../../src/features/accounts/account/queries.ts'
import { env, look } from '../../src/features/contacts/unsubscribe/fixtures/people.ts'
import { insertOptin } from '../../src/features/transactional/double-optin/queries.ts'
import { optinKeysOf, writeOptinToken } from '../../src/features/transactional/double-optin/tokens.ts'
import { newUuid } from '../../src/kernel/id.ts'
import { makeApp } from '../app.ts'
import { withoutBrowser } from '../browser.ts'
import { openBrowser, type Tab } from './unsubscribe-browser.ts'

const app = await makeApp({ env })
const { db } = app.pools
const account = { name: 'Atelier Horn', outreach: false, monthlyQuota: null }
const { id: accountId } = await insertAccount(db, account)
const browser = withoutBrowser ? undefined : await openBrowser()
after(() => browser?.close())

async function serve(answer: RequestListener): Promise<string> {
  const server = createServer(answer).listen(0, '127.0.0.1')
  after(() => server.close())
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

// The customer's page, which itself lies behind a redirect to another origin.
const thanks = await serve((_request, reply) => {
  reply.setHeader('content-type', 'text/html').end('<h1>Thank you</h1>')
})
const shop = await serve((_request, reply) => {
  reply.writeHead(302, { location: `${thanks}/thanks` }).end()
})

let made = 0
async function asked(of = accountId) {
  const [id, email] = [newUuid(), `reader${made++}@example.com`]
  await insertOptin(db, {
    accountId: of,
    id,
    email,
    attributes: {},
    include_list_ids: [],
    exclude_list_ids: [],
    redirect_url: `${shop}/signed-up`,
    key_id: newUuid(),
    created_at: new Date(),
  })
  const keys = optinKeysOf([Buffer.from(env.POSTHORN_SECRET_KEY, 'hex')])
  const page = `${app.url}/c/${writeOptinToken(keys, { accountId: of, id })}`
  return { page, now: () => look(db, of, email) }
}

async function tabFor(as: Parameters<Tab['look']>[0] = {}): Promise<Tab> {
  const tab = await browser?.newTab()
  assert.ok(tab)
  await tab.look(as)
  return tab
}

const heading = (tab: Tab) => tab.evaluate<string>('document.querySelector("h1").textContent')
const isWide = (tab: Tab) => tab.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')

describe('in a browser', { skip: withoutBrowser }, () => {
  test('a person confirms with one click and comes to the customer’s page, over its own redirects', async () => {
    const [{ page, now }, tab] = [await asked(), await tabFor()]
    await tab.open(page)
    assert.equal(await heading(tab), 'Confirm your subscription')
    assert.equal((await now()).status, null)
    await tab.andThen(() => tab.click('button'))
    assert.equal(await tab.evaluate('location.href'), `${thanks}/thanks`)
    assert.equal((await now()).status, 'subscribed')
    await tab.open(page)
    assert.equal(await heading(tab), 'Your subscription is confirmed')
    await tab.andThen(() => tab.click('a'))
    assert.equal(await heading(tab), 'Thank you')
  })

  test('it speaks French, fits the smallest telephone and works by keyboard', async () => {
    const [{ page, now }, tab] = [await asked(), await tabFor({ width: 320, height: 568, language: 'fr' })]
    await tab.open(page)
    assert.equal(await heading(tab), 'Confirmez votre inscription')
    assert.equal(await tab.evaluate('document.documentElement.lang'), 'fr')
    assert.equal(await isWide(tab), false)
    await tab.press('Tab')
    await tab.andThen(() => tab.press('Enter'))
    assert.equal((await now()).status, 'subscribed')
  })

  test('an account that nobody named is called neutrally', async () => {
    const { id } = await insertAccount(db, { ...account, name: 'default' })
    const [{ page }, tab] = [await asked(id), await tabFor()]
    await tab.open(page)
    assert.match(await tab.evaluate('document.body.textContent'), /will get emails from this sender\./)
  })
})
