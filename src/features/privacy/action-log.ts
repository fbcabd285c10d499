// The action log holds what callers sent, a person among others or all by themselves: they are told what is about them,
// and that alone is erased.
import type { Db } from '../../kernel/db.ts'
import { readPhone } from '../contacts/contacts/read-ref.ts'
import { type AboutRow, findLines, replaceLines } from './log-queries.ts'
import type { Person } from './person.ts'

type Told = { at: string; operation: string; params: unknown }

export async function exportLog(db: Db, who: Person): Promise<Told[]> {
  const { isOwn, isAbout } = judgeOf(who)
  const found: Told[] = []
  for await (const lines of linesAbout(db, who))
    for (const { at, operation, params } of lines)
      if (isAbout(params)) found.push({ at, operation, params: onlyOwn(params, isOwn) })
  return found
}

/** Gives how many lines were changed. */
export async function eraseLog(db: Db, who: Person): Promise<number> {
  const { isOwn, isIdentifier } = judgeOf(who)
  let erased = 0
  for await (const lines of linesAbout(db, who)) {
    const changed = lines.map(({ id, params }) => ({
      id,
      params: JSON.stringify(isIdentifier(params) ? emptied(params) : withoutOwn(params, isOwn)),
    }))
    erased += await replaceLines(db, who.accountId, changed)
  }
  return erased
}

const linesAtOnce = 20_000

/** The log may be longer than one statement can go through in its time. */
async function* linesAbout(db: Db, who: Person): AsyncGenerator<AboutRow[]> {
  for (let after: string | undefined | null; after !== null; ) {
    const page = await findLines(db, who, { after, limit: linesAtOnce })
    yield page.rows
    after = page.last
  }
}

/** `name`: of the field that the text is the value of. */
type IsOwn = (text: string, name?: string) => boolean

const extIdNames = ['ext_id', 'extId', 'EXT_ID']

function judgeOf({ pattern, phones, contactId, extId }: Person) {
  const addresses = new RegExp(pattern, 'i')
  const isPhone = (text: string) => phones.length > 0 && phones.includes(readPhone(text) ?? '')
  const isExtId = (text: string, name = '') => text === extId && extIdNames.includes(name)
  const isOwn: IsOwn = (text, name) => addresses.test(text) || isPhone(text) || isExtId(text, name)
  const isIdentifier = ({ identifier, identifierType }: AboutRow['params']) =>
    typeof identifier === 'string' && identifier === (identifierType === 'ext_id' ? extId : contactId)
  const isAbout = (params: AboutRow['params']) =>
    isIdentifier(params) || addresses.test(JSON.stringify(params)) || names(params, isOwn)
  return { isOwn, isIdentifier, isAbout }
}

const erasedText = '[erased]'

const isObject = (value: unknown): value is Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value)

const mapped = (value: Record<string, unknown>, change: (inner: unknown) => unknown) =>
  Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, change(inner)]))

/** What stands beside an address is about its person too: their name, their attributes. */
function withoutOwn(value: unknown, isOwn: IsOwn): unknown {
  if (typeof value === 'string') return isOwn(value) ? erasedText : value
  if (Array.isArray(value)) return value.map((one) => withoutOwn(one, isOwn))
  if (!isObject(value)) return value
  const isTheirs = Object.entries(value).some(
    ([name, inner]) => typeof inner === 'string' && isOwn(inner, name),
  )
  return mapped(value, (inner) =>
    isTheirs && !Array.isArray(inner) ? emptied(inner) : withoutOwn(inner, isOwn),
  )
}

function emptied(value: unknown): unknown {
  if (typeof value === 'string') return erasedText
  if (Array.isArray(value)) return value.map(emptied)
  return isObject(value) ? mapped(value, emptied) : value
}

/** Of lists only the entries about the person, and those about nobody. */
function onlyOwn(value: unknown, isOwn: IsOwn): unknown {
  if (Array.isArray(value))
    return value.filter((one) => !isAboutSomebody(one) || names(one, isOwn)).map((one) => onlyOwn(one, isOwn))
  return isObject(value) ? mapped(value, (inner) => onlyOwn(inner, isOwn)) : value
}

const isAboutSomebody = (value: unknown) =>
  typeof value === 'string' ? value.includes('@') : value !== null && typeof value === 'object'

function names(value: unknown, isOwn: IsOwn, name?: string): boolean {
  if (typeof value === 'string') return isOwn(value, name)
  if (value === null || typeof value !== 'object') return false
  return Object.entries(value).some(([of, one]) => names(one, isOwn, of))
}
