// What the pages look like in each case. Their links are relative: a proxy may serve us below a path of its own.
import type { UnsubscribeToken } from '../../features/contacts/unsubscribe/tokens.ts'
import type { Standing } from '../../features/contacts/unsubscribe/unsubscribe.ts'
import { type Html, html, type PageAnswer, page } from './html.ts'
import { addressIn, nameIn, titleOf, withNames } from './names.ts'
import type { Texts } from './texts.ts'

/** What a page is about; `path` is the token as it stands in the address, `up` leads to where the pages begin. */
export type Subject = {
  texts: Texts
  token: UnsubscribeToken
  path: string
  up: string
  standing: Standing
}

/** Asks; or, when it is done already, offers the way back. */
export function questionPage(subject: Subject): PageAnswer {
  const { texts, token, standing } = subject
  if (standing.status === 'unsubscribed') return donePage(subject)
  const { from, email, list } = named(subject)
  const title = list === undefined ? texts.question(from) : texts.questionList(list)
  const stop = token.listId === undefined ? texts.stopAll : texts.stopList
  return page(200, {
    lang: texts.lang,
    title: titleOf(title),
    main: html`<h1>${withNames(title)}</h1>
<p>${withNames(stop(email, from))}</p>
<form method="post">
<button name="confirm" value="1">${texts.unsubscribe}</button>
</form>
${linkToPreferences(subject)}`,
  })
}

export function donePage(subject: Subject): PageAnswer {
  const { texts } = subject
  return page(200, {
    lang: texts.lang,
    title: texts.done,
    main: html`<h1>${texts.done}</h1>
<p role="status">${withNames(doneText(subject))}</p>
${isBlocked(subject) && html`<p class="soft">${blockedText(subject)}</p>`}
${
  canReturn(subject) &&
  html`<form method="post">
<p class="soft">${texts.mistake}</p>
<button class="quiet" name="undo" value="1">${texts.undo}</button>
</form>`
}
${linkToPreferences(subject)}`,
  })
}

export function backPage(subject: Subject): PageAnswer {
  const { texts } = subject
  // It may have been stopped by someone else, or the list may be gone.
  if (subject.standing.status === 'unsubscribed') return donePage(subject)
  if (!subject.standing.isKnown) return undonePage(subject)
  const { from, email, list } = named(subject)
  const text = list === undefined ? texts.backAll(email, from) : texts.backList(email, list, from)
  return page(200, {
    lang: texts.lang,
    title: texts.back,
    main: html`<h1>${texts.back}</h1>
<p role="status">${withNames(text)}</p>
${linkToPreferences(subject)}`,
  })
}

/** Nothing stops the mail any more, but none is due either: the contact is gone. */
function undonePage(subject: Subject): PageAnswer {
  const { texts } = subject
  const { from, email } = named(subject)
  return page(200, {
    lang: texts.lang,
    title: texts.undone,
    main: html`<h1>${texts.undone}</h1>
<p role="status">${withNames(texts.undoneMeans(email, from))}</p>
<p class="soft">${withNames(texts.noLists(from))}</p>`,
  })
}

export function preferencesPage(subject: Subject, { isSaved }: { isSaved: boolean }): PageAnswer {
  const { texts, standing } = subject
  if (standing.isErased) return erasedPage(subject)
  const { from, email } = named(subject)
  return page(200, {
    lang: texts.lang,
    title: texts.preferences,
    main: html`<h1>${texts.preferences}</h1>
${isSaved && html`<p class="done" role="status">${texts.saved}</p>`}
<p>${withNames(texts.preferencesOf(email, from))}</p>
<form method="post">
${listBoxes(subject)}
${opensBox(subject)}
<fieldset>
<label><input type="checkbox" name="nothing" value="1"${checked(standing.isUnsubscribedFromAll)}>
<span>${texts.nothing}<small>${isBlocked(subject) ? blockedText(subject) : texts.nothingMeans}</small></span></label>
</fieldset>
${standing.isUnsubscribedFromAll && html`<input type="hidden" name="was_nothing" value="1">`}
<button>${texts.save}</button>
</form>`,
  })
}

/** There is nothing left to choose. */
function erasedPage(subject: Subject): PageAnswer {
  const { texts } = subject
  const main = html`<h1>${texts.preferences}</h1>
<p>${blockedText(subject)}</p>`
  return page(200, { lang: texts.lang, title: texts.preferences, main })
}

function listBoxes(subject: Subject): Html {
  const { texts, standing } = subject
  if (standing.lists.length === 0)
    return html`<p class="soft">${withNames(texts.noLists(named(subject).from))}</p>`
  const boxes = standing.lists.map(
    ({
      id,
      name,
      is_member,
    }) => html`<label><input type="checkbox" name="list" value="${id}"${checked(is_member)}>
<bdi>${name}</bdi></label>`,
  )
  const shown = standing.lists.map(({ id }) => html`<input type="hidden" name="shown" value="${id}">`)
  return html`<fieldset>
<legend>${texts.lists}</legend>
${boxes}
</fieldset>
${shown}`
}

/** Ticked where opens are noted now. */
function opensBox({ texts, standing: { areOpensNoted } }: Subject): Html | false {
  if (areOpensNoted === undefined) return false
  return html`<fieldset>
<label><input type="checkbox" name="opens" value="1"${checked(areOpensNoted)}>
<span>${texts.opens}<small>${texts.opensMeans}</small></span></label>
</fieldset>
<input type="hidden" name="opens_shown" value="1">`
}

export function missingPage(texts: Texts): PageAnswer {
  const main = html`<h1>${texts.missing}</h1>
<p>${texts.missingWhy}</p>`
  return page(404, { lang: texts.lang, title: texts.missing, main })
}

/** Behind the links of a campaign that everybody may read. */
export function copyPage(texts: Texts): PageAnswer {
  const main = html`<h1>${texts.copy}</h1>
<p>${texts.copyWhy}</p>`
  return page(200, { lang: texts.lang, title: texts.copy, main })
}

/** Behind the links of tests and previews, which are nobody's. */
export function testPage(texts: Texts): PageAnswer {
  const main = html`<h1>${texts.test}</h1>
<p>${texts.testWhy}</p>`
  return page(200, { lang: texts.lang, title: texts.test, main })
}

export function failedPage(texts: Texts, status: number): PageAnswer {
  const main = html`<h1>${texts.failed}</h1>
<p>${texts.failedWhy}</p>`
  return page(status, { lang: texts.lang, title: texts.failed, main })
}

const checked = (is: boolean) => is && html` checked`

function linkToPreferences({ texts, path, up }: Subject): Html {
  return html`<p class="more"><a href="${up}preferences/${path}">${texts.choose}</a></p>`
}

function doneText(subject: Subject): string {
  const { texts, token, standing } = subject
  const { from, email, list } = named(subject)
  if (token.listId === undefined || standing.isUnsubscribedFromAll) return texts.doneAll(email, from)
  return list === undefined ? texts.doneListGone(email, from) : texts.doneList(email, list, from)
}

/** Somebody else than the person stopped the mail too, and what the person says changes nothing about it. */
const isBlocked = ({ standing }: Subject) => standing.isUnsubscribedFromAll && !standing.canReturnToAll

function blockedText(subject: Subject): Html {
  const { texts, standing } = subject
  const { from } = named(subject)
  return withNames(standing.isErased ? texts.erased(from) : texts.blocked(from))
}

/** The list is nameless when the person never was on it, or it is gone. */
function named({ texts, token, standing }: Subject): {
  from: string
  email: string
  list: string | undefined
} {
  const list = standing.lists.find(({ id }) => id === token.listId)
  return {
    from: standing.from === undefined ? texts.thisSender : nameIn(standing.from),
    email: addressIn(masked(token.email)),
    list: list && nameIn(list.name),
  }
}

function canReturn({ token, standing }: Subject): boolean {
  if (token.listId === undefined) return standing.canReturnToAll
  // Where all mail is refused, this list alone brings none back.
  if (standing.isUnsubscribedFromAll) return false
  return standing.lists.some(({ id, is_member }) => id === token.listId && !is_member)
}

/** Mail gets forwarded, and its links with it. */
export function masked(email: string): string {
  const at = email.lastIndexOf('@')
  const [local, domain] = [email.slice(0, at), email.slice(at)]
  return `${local.slice(0, 1)}…${local.length > 2 ? local.slice(-1) : ''}${domain}`
}
