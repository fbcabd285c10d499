// The page behind the link of a confirmation message: a button, and after it the way back to the customer's own page.
import { senderName } from '../../features/contacts/unsubscribe/sender-name.ts'
import {
  confirmOptin,
  isStillOn,
  readOptin,
} from '../../features/transactional/double-optin/confirm-optin.ts'
import type { OptinRow } from '../../features/transactional/double-optin/queries.ts'
import {
  type FindOptinKeys,
  type OptinToken,
  readOptinToken,
} from '../../features/transactional/double-optin/tokens.ts'
import type { Db } from '../../kernel/db.ts'
import { locationOf } from '../../kernel/location.ts'
import { closedHeaders, html, leadingAway, type PageAnswer, page } from './html.ts'
import { addressIn, nameIn, withNames } from './names.ts'
import type { Texts } from './texts.ts'
import { masked, missingPage } from './unsubscribe-pages.ts'

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
    return found ? showPage(db, { token, optin: found, texts }) : expiredPage(texts)
  }
  const confirmed = await confirmOptin(db, token, { at: now(), ip })
  if (!confirmed) return expiredPage(texts)
  if (confirmed.confirmed_at !== null && !(await isStillOn(db, token, confirmed))) return usedPage(texts)
  const location = locationOf(confirmed.redirect_url)
  if (location === undefined)
    return showPage(db, { token, optin: { ...confirmed, confirmed_at: now() }, texts })
  return { status: 303, headers: { ...closedHeaders, ...leadingAway, location }, body: '' }
}

type Asked = { token: OptinToken; optin: OptinRow; texts: Texts }

async function showPage(db: Db, { token, optin, texts }: Asked): Promise<PageAnswer> {
  const isConfirmed = optin.confirmed_at !== null
  if (isConfirmed && !(await isStillOn(db, token, optin))) return usedPage(texts)
  const name = await senderName(db, { accountId: token.accountId, accountName: optin.account_name })
  const from = name === undefined ? texts.thisSender : nameIn(name)
  return isConfirmed ? confirmedPage(texts, optin, from) : questionPage(texts, optin, from)
}

function questionPage(texts: Texts, optin: OptinRow, from: string): PageAnswer {
  const main = html`<h1>${texts.confirm}</h1>
<p>${withNames(texts.confirmMeans(addressIn(masked(optin.email)), from))}</p>
<form method="post">
<button name="confirm" value="1">${texts.confirmButton}</button>
</form>
<p class="soft more">${texts.confirmNot}</p>`
  const answer = page(200, { lang: texts.lang, title: texts.confirm, main })
  return { ...answer, headers: { ...answer.headers, ...leadingAway } }
}

function confirmedPage(texts: Texts, optin: OptinRow, from: string): PageAnswer {
  const location = locationOf(optin.redirect_url)
  const main = html`<h1>${texts.confirmed}</h1>
<p role="status">${withNames(texts.confirmedMeans(addressIn(masked(optin.email)), from))}</p>
${location !== undefined && html`<p class="more"><a href="${location}">${texts.goOn}</a></p>`}`
  return page(200, { lang: texts.lang, title: texts.confirmed, main })
}

/** Confirmed once, and the person left or was taken off since. */
function usedPage(texts: Texts): PageAnswer {
  const main = html`<h1>${texts.used}</h1>
<p>${texts.usedWhy}</p>`
  return page(410, { lang: texts.lang, title: texts.used, main })
}

function expiredPage(texts: Texts): PageAnswer {
  const main = html`<h1>${texts.expired}</h1>
<p>${texts.expiredWhy}</p>`
  return page(410, { lang: texts.lang, title: texts.expired, main })
}
