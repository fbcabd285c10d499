// The pages behind the links in mail. Asking changes nothing, because programs follow links too; only posting acts.
import { readSettingsOf } from '../../features/accounts/settings/settings.ts'
import { sharedToken } from '../../features/campaigns/links.ts'
import { type FindUnsubscribeKeys, readUnsubscribeToken } from '../../features/contacts/unsubscribe/tokens.ts'
import {
  type Choice,
  readStanding,
  resubscribe,
  savePreferences,
  unsubscribe,
} from '../../features/contacts/unsubscribe/unsubscribe.ts'
import { testToken } from '../../features/messages/recipient-links.ts'
import type { FindOptinKeys } from '../../features/transactional/double-optin/tokens.ts'
import type { Db } from '../../kernel/db.ts'
import { locationOf } from '../../kernel/location.ts'
import { readForm } from './forms.ts'
import { closedHeaders, type PageAnswer } from './html.ts'
import { answerOptin } from './optin-pages.ts'
import { type Texts, textsFor } from './texts.ts'
import {
  backPage,
  copyPage,
  donePage,
  failedPage,
  missingPage,
  preferencesPage,
  questionPage,
  type Subject,
  testPage,
} from './unsubscribe-pages.ts'

export type PagesNeeds = {
  db: Db
  now: () => Date
  findKeys: FindUnsubscribeKeys
  findOptinKeys: FindOptinKeys
}

export const pageNames = ['u', 'preferences', 'c'] as const

export type PageRequest = {
  page: (typeof pageNames)[number]
  token: string
  /** The address has a slash at its end, so that what is relative begins a step lower. */
  isSlashed: boolean
  /** Otherwise it only asks. */
  isPost: boolean
  ip: string
  headers: Record<string, string | string[] | undefined>
  body: Buffer | undefined
}

export const largestForm = 64 * 1024

export async function answerPage(needs: PagesNeeds, request: PageRequest): Promise<PageAnswer> {
  const texts = textsOf(request.headers)
  if (request.token === testToken) return testPage(texts)
  if (request.page === 'c') return answerOptin(needs, request, texts)
  if (request.token === sharedToken) return copyPage(texts)
  const subject = await readSubject(needs, request, texts)
  if (!subject) return missingPage(texts)
  if (!request.isPost) return request.page === 'u' ? ask(needs, subject) : preferencesPage(subject, notSaved)
  const form = await readForm(request.headers['content-type']?.toString(), request.body)
  const visitor = { ...subject, userAgent: request.headers['user-agent']?.toString(), ip: request.ip }
  return request.page === 'u' ? act(needs, visitor, form) : save(needs, visitor, form)
}

const notSaved = { isSaved: false }

export function answerMissing(headers: PageRequest['headers']): PageAnswer {
  return missingPage(textsOf(headers))
}

export function answerTest(headers: PageRequest['headers']): PageAnswer {
  return testPage(textsOf(headers))
}

export function answerFailed(headers: PageRequest['headers'], status: number): PageAnswer {
  return failedPage(textsOf(headers), status)
}

const textsOf = (headers: PageRequest['headers']) => textsFor(headers['accept-language']?.toString())

async function readSubject(
  { db, findKeys }: PagesNeeds,
  { token: path, isSlashed }: PageRequest,
  texts: Texts,
) {
  const token = readUnsubscribeToken(await findKeys(), path)
  const standing = token && (await readStanding(db, token))
  return standing && { texts, token, path, up: isSlashed ? '../../' : '../', standing }
}

async function ask({ db }: PagesNeeds, subject: Subject): Promise<PageAnswer> {
  const { unsubscribe_url } = await readSettingsOf(db, subject.token.accountId)
  const own = unsubscribe_url === null ? undefined : ownPage(unsubscribe_url, subject.path)
  return own === undefined
    ? questionPage(subject)
    : { status: 302, headers: { ...closedHeaders, location: own }, body: '' }
}

function ownPage(given: string, token: string): string | undefined {
  const location = locationOf(given)
  if (location === undefined) return undefined
  const url = new URL(location)
  url.searchParams.set('token', token)
  return url.href
}

type Visitor = Subject & { userAgent: string | undefined; ip: string }

async function act(needs: PagesNeeds, subject: Visitor, form: URLSearchParams): Promise<PageAnswer> {
  const isUndo = form.get('undo') === '1' && !form.has('List-Unsubscribe')
  const { token, userAgent } = subject
  if (isUndo) await resubscribe(needs.db, token, needs.now())
  else await unsubscribe(needs.db, token, needs.now(), userAgent)
  const after = await again(needs, subject)
  return isUndo ? backPage(after) : donePage(after)
}

async function save(needs: PagesNeeds, subject: Visitor, form: URLSearchParams): Promise<PageAnswer> {
  const choice: Choice = {
    shown: form.getAll('shown'),
    kept: form.getAll('list'),
    nothing: form.has('nothing'),
    wasNothing: form.has('was_nothing'),
    opens: form.has('opens_shown')
      ? { mayBeNoted: form.has('opens'), words: subject.texts.opens, ip: subject.ip }
      : undefined,
    userAgent: subject.userAgent,
  }
  await savePreferences(needs.db, subject.token, choice, needs.now())
  return preferencesPage(await again(needs, subject), { isSaved: true })
}

async function again({ db }: PagesNeeds, subject: Subject): Promise<Subject> {
  return { ...subject, standing: (await readStanding(db, subject.token)) ?? subject.standing }
}
