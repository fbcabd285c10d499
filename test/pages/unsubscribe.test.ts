import assert from 'node:assert/strict'
import { after, describe, test } from 'node:test'
import { insertAccount } from '../../src/features/accounts/account/queries.ts'
import {
  addContact,
  addList,
  env,
  keys,
  look,
} from '../../src/features/contacts/unsubscribe/fixtures/people.ts'
import { writeUnsubscribeToken } from '../../src/features/contacts/unsubscribe/tokens.ts'
import { makeApp } from '../app.ts'
import { withoutBrowser } from '../browser.ts'
import { openBrowser, type Tab } from './unsubscribe-browser.ts'

const app = await makeApp({ env })
const { db } = app.pools
const { id: accountId } = await insertAccount(db, {
  name: 'Atelier Horn',
  outreach: false,
  monthlyQuota: null,
})
const browser = withoutBrowser ? undefined : await openBrowser()
after(() => browser?.close())

async function tabFor(as: Parameters<Tab['look']>[0] = {}): Promise<Tab> {
  const tab = await browser?.newTab()
  assert.ok(tab)
  await tab.look(as)
  return tab
}

let made = 0
async function reader(lists: string[] = []) {
  const email = `reader${made++}@example.com`
  const id = await addContact(db, accountId, email)
  const listIds: string[] = []
  for (const name of lists) listIds.push(await addList(db, accountId, name, [id]))
  const token = writeUnsubscribeToken(keys, { accountId, email })
  const [page, preferences] = [`${app.url}/u/${token}`, `${app.url}/preferences/${token}`]
  return { page, preferences, listIds, now: () => look(db, accountId, email) }
}

const heading = (tab: Tab) => tab.evaluate<string>('document.querySelector("h1").textContent')
const focused = (tab: Tab) => tab.evaluate<string>('document.activeElement.textContent.trim()')
const isWide = (tab: Tab) => tab.evaluate<boolean>('document.documentElement.scrollWidth > innerWidth')

describe('in a browser', { skip: withoutBrowser }, () => {
  test('a person unsubscribes with one click, and comes back with another', async () => {
    const [{ page, now }, tab] = [await reader(), await tabFor()]
    await tab.open(page)
    assert.equal(await heading(tab), 'Unsubscribe from Atelier Horn?')
    assert.equal((await now()).status, 'subscribed')
    await tab.andThen(() => tab.click('button'))
    assert.equal(await heading(tab), 'You are unsubscribed')
    assert.equal((await now()).suppression, 'unsubscribe unsubscribe')
    await tab.andThen(() => tab.click('button'))
    assert.equal(await heading(tab), 'You are subscribed again')
    assert.deepEqual([(await now()).status, (await now()).suppression], ['subscribed', null])
  })

  test('a person chooses lists, then nothing at all, then all again', async () => {
    const [{ page, listIds, now }, tab] = [await reader(['News', 'Offers']), await tabFor()]
    const [news = '', offers = ''] = listIds
    await tab.open(page)
    await tab.andThen(() => tab.click('a'))
    assert.equal(await heading(tab), 'Your email preferences')
    await tab.click(`input[value="${news}"]`)
    await tab.andThen(() => tab.click('button'))
    assert.equal(
      await tab.evaluate('document.querySelector("[role=status]").textContent'),
      'Your choice is saved.',
    )
    assert.deepEqual([(await now()).lists, (await now()).left_lists], [[offers], [news]])
    await tab.click('input[name="nothing"]')
    await tab.andThen(() => tab.click('button'))
    assert.equal((await now()).status, 'unsubscribed')
    for (const box of [`input[value="${news}"]`, 'input[name="nothing"]']) await tab.click(box)
    await tab.andThen(() => tab.click('button'))
    const { status, suppression, lists } = await now()
    assert.deepEqual([status, suppression, lists], ['subscribed', null, listIds.toSorted()])
  })

  test('the keyboard is enough, and shows where it is', async () => {
    const [{ page, preferences, now }, tab] = [await reader(['News']), await tabFor()]
    await tab.open(page)
    await tab.press('Tab')
    assert.equal(await focused(tab), 'Unsubscribe')
    assert.equal(await tab.evaluate('getComputedStyle(document.activeElement).outlineStyle'), 'solid')
    await tab.andThen(() => tab.press('Enter'))
    assert.equal((await now()).status, 'unsubscribed')
    await tab.press('Tab')
    await tab.andThen(() => tab.press(' '))
    assert.equal((await now()).status, 'subscribed')
    await tab.open(preferences)
    await tab.press('Tab')
    assert.equal(await tab.evaluate('document.activeElement.labels[0].textContent.trim()'), 'News')
    await tab.press(' ')
    for (const name of ['opens', 'nothing']) {
      await tab.press('Tab')
      assert.equal(await tab.evaluate('document.activeElement.name'), name)
    }
    await tab.press('Tab')
    assert.equal(await focused(tab), 'Save my choice')
    await tab.andThen(() => tab.press('Enter'))
    assert.equal((await now()).left_lists.length, 1)
  })

  test('nothing is cut off at the width of the smallest telephones, even with long names', async () => {
    const long = 'Donaudampfschifffahrtsgesellschaftskapitänsnewsletter'
    const [{ page, preferences }, tab] = [await reader([long]), await tabFor({ width: 320, height: 568 })]
    for (const url of [page, preferences, `${page}x`]) {
      await tab.open(url)
      assert.equal(await isWide(tab), false, url)
    }
    const height = 'document.querySelector("button").getBoundingClientRect().height'
    await tab.open(page)
    assert.ok((await tab.evaluate<number>(height)) >= 44)
  })

  test('it speaks French, and the style is not refused by its own policy', async () => {
    const [{ page, now }, tab] = [await reader(), await tabFor({ language: 'fr-FR,fr;q=0.9,en;q=0.5' })]
    await tab.open(page)
    assert.equal(await heading(tab), 'Se désabonner d’Atelier Horn\u00a0?')
    assert.equal(await tab.evaluate('document.documentElement.lang'), 'fr')
    assert.equal(await tab.evaluate('getComputedStyle(document.querySelector("main")).maxWidth'), '480px')
    await tab.andThen(() => tab.click('button'))
    assert.equal((await now()).status, 'unsubscribed')
    assert.equal(await heading(tab), 'Vous ne recevrez plus ces emails')
  })
})
