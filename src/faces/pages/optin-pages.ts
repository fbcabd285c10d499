// The page behind the link of a confirmation message: a button, and after it the way back to the customer's own page.
import { publicName } from '../../features/accounts/account/public-name.ts'
import { confirmOptin, readOptin } from '../../features/transactional/double-optin/confirm-optin.ts'
import type { OptinRow } from '../../features/transactional/double-optin/queries.ts'
import { type FindOptinKeys, readOptinToken } from '../../features/transactional/double-optin/tokens.ts'
import type { Db } from '../../kernel/db.ts'
import { locationOf } from '../../kernel/location.ts'
import { closedHeaders, html, leadingAway, type PageAnswer, page } from './html.ts'
import type { Texts } from './texts.ts'
import { masked, missingPage, withAddress } from './unsubscribe-pages.ts'

type OptinNeeds = { db: Db; now: () => Date; findOptinKeys: FindOptinKeys }
type OptinRequest = { token: string; isPost: boolean; ip: string }

export async function answerOptin(
  { db, now, findOptinKeys }: OptinNeeds,
  { token: path, isPost, ip }: OptinRequest,
  texts: Texts,
): Promise<PageAnswer> {
  const token = readOptinToken(await findOptinKeys(), path)
  if (!token) return missingPage(texts)
  if (!isPost) {
    const found = await readOptin(db, token, now())
    return found ? questionPage(texts, found) : expiredPage(texts)
  }
  const confirmed = await confirmOptin(db, token, { at: now(), ip })
  if (!confirmed) return expiredPage(texts)
  const location = locationOf(confirmed.redirect_url)
  if (location === undefined) return confirmedPage(texts, confirmed)
  return { status: 303, headers: { ...closedHeaders, ...leadingAway, location }, body: '' }
}

function questionPage(texts: Texts, optin: OptinRow): PageAnswer {
  if (optin.confirmed_at !== null) return confirmedPage(texts, optin)
  const email = masked(optin.email)
  const main = html`<h1>${texts.confirm}</h1>
<p>${withAddress(texts.confirmMeans(email, nameOf(texts, optin)), email)}</p>
<form method="post">
<button name="confirm" value="1">${texts.confirmButton}</button>
</form>
<p class="soft more">${texts.confirmNot}</p>`
  const answer = page(200, { lang: texts.lang, title: texts.confirm, main })
  return { ...answer, headers: { ...answer.headers, ...leadingAway } }
}

function confirmedPage(texts: Texts, optin: OptinRow): PageAnswer {
  const email = masked(optin.email)
  const location = locationOf(optin.redirect_url)
  const main = html`<h1>${texts.confirmed}</h1>
<p role="status">${withAddress(texts.confirmedMeans(email, nameOf(texts, optin)), email)}</p>
${location !== undefined && html`<p class="more"><a href="${location}">${texts.goOn}</a></p>`}`
  return page(200, { lang: texts.lang, title: texts.confirmed, main })
}

const nameOf = (texts: Texts, { account_name }: OptinRow) => publicName(account_name) ?? texts.thisSender

function expiredPage(texts: Texts): PageAnswer {
  const main = html`<h1>${texts.expired}</h1>
<p>${texts.expiredWhy}</p>`
  return page(410, { lang: texts.lang, title: texts.expired, main })
}
