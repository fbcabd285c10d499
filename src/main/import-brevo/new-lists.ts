// Lists that were made there since the last run: those who were copied before belong on them too. Who is on the other
// lists is decided here.
import { readPhone } from '../../features/contacts/contacts/read-ref.ts'
import { joinLists, lockKnown } from '../../features/contacts/import/contact-queries.ts'
import type { Db } from '../../kernel/db.ts'
import { normalEmail } from '../../kernel/email-address.ts'
import { type Copying, numbersOf, oursOf, refOf, rowOf, textOf } from './kind.ts'
import { type CopyRef, insertTold, listCopied } from './queries.ts'
import type { Row } from './source.ts'

const filled = 'filled'
// There from the first time on, also where there was no list.
const isMarked = 'marked'

type Of = Omit<CopyRef, 'kind'>

/** At the end of a run everybody has been seen who is on the lists. */
export async function markFilled(db: Db, of: Of): Promise<void> {
  const lists = await listCopied(db, { ...of, kind: 'lists' })
  await insertTold(db, { ...of, kind: filled }, [isMarked, ...lists.map(({ theirs }) => theirs)])
}

/** A copy that ended before lists were marked: who was taken off one of them here since does not come back. */
export async function markOlder(db: Db, of: Of): Promise<void> {
  const marks = await listCopied(db, { ...of, kind: filled })
  if (marks.length === 0) await markFilled(db, of)
}

/** Nobody is made who was deleted here. */
export async function fillNewLists(copying: Copying, rows: Row[]): Promise<void> {
  const { db, caller, now: at } = copying.ctx
  const { accountId } = caller
  const known = new Set((await listCopied(db, refOf(copying, filled))).map(({ theirs }) => theirs))
  for (const [theirs, ours] of await oursOf(copying, 'lists')) {
    const members = known.has(theirs) ? [] : rows.filter(({ listIds }) => numbersOf(listIds).includes(theirs))
    if (members.length === 0) continue
    const found = await lockKnown(db, accountId, identifiersOf(members))
    const joining = found.map(({ id }) => ({ contact_id: id, consented_at: null }))
    await joinLists(db, { accountId, listIds: [String(ours)], isTest: false, at }, joining)
  }
}

function identifiersOf(rows: Row[]) {
  const [emails, extIds, phones]: [string[], string[], string[]] = [[], [], []]
  for (const row of rows) {
    const { EXT_ID, SMS } = rowOf(row.attributes)
    const email = normalEmail(textOf(row.email))
    const extId = textOf(row.ext_id) || textOf(EXT_ID)
    const phone = readPhone(textOf(SMS))
    if (email) emails.push(email)
    else if (extId) extIds.push(extId)
    else if (phone) phones.push(phone)
  }
  return { emails, extIds, phones }
}
