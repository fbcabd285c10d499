// Prospects as a call names them: by number, by address, some perhaps by both.
import { normalEmail } from '../../../kernel/email-address.ts'
import { invalidParameter, missingParameter } from '../../../kernel/refusals.ts'

export type GivenProspects = { prospectIds?: number[] | null; emails?: string[] | null }

type Given = { ids: string[]; emails: string[]; bad: string[] }

const mostAtOnce = 10_000

export function readGiven({ prospectIds, emails }: GivenProspects): Given {
  const count = (prospectIds?.length ?? 0) + (emails?.length ?? 0)
  if (count === 0)
    throw missingParameter({ message: 'prospectIds or emails is missing', param: 'prospectIds' })
  if (count > mostAtOnce)
    throw invalidParameter({ message: `At most ${mostAtOnce} can be named at once`, param: 'prospectIds' })
  const [good, bad] = [new Set<string>(), new Set<string>()]
  for (const one of emails ?? []) {
    const email = normalEmail(one)
    if (email === undefined) bad.add(one)
    else good.add(email)
  }
  return { ids: [...new Set(prospectIds)].map(String), emails: [...good], bad: [...bad] }
}

type Judged<Reason> = { given: string; id: string | null; reason: Reason | null }

/** How many it was done for, and who was left out, as they were given. */
export function outcomeOf<Reason extends string>({ ids, bad }: Given, judged: Judged<Reason>[]) {
  const byNumber = new Set(ids)
  const skipped = judged.flatMap(({ given, reason }) =>
    reason === null ? [] : { prospect: byNumber.has(given) ? Number(given) : given, reason },
  )
  return {
    done: new Set(judged.flatMap(({ id, reason }) => (reason === null ? [id] : []))).size,
    skipped: [...bad.map((prospect) => ({ prospect, reason: 'unknown' as const })), ...skipped],
  }
}
