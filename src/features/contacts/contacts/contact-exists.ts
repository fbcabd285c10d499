// What a contact is to be called belongs to another one.
import { type Refusal, refusal } from '../../../kernel/refusal.ts'
import type { ContactBody } from './contact-body.ts'

export const contactExists = refusal({
  code: 'duplicate_parameter',
  kind: 'invalid',
  message: 'Unable to create contact, email is already associated with another Contact',
})

/** A contact, and the name of the identifier that it was found by. */
type Holder = { id: string; by: string }

/** `own`: the contact that was to be changed. */
export function takenBy(holders: Holder[], { forceMerge }: ContactBody, own?: string): Refusal {
  const others = holders.filter(({ id }) => id !== own)
  const names = [...new Set(others.map(({ by }) => by))]
  const verb = own === undefined ? 'create' : 'update'
  const message = `Unable to ${verb} contact, ${names[0] ?? 'email'} is already associated with another Contact`
  const ids = [...new Set([...(own === undefined ? [] : [own]), ...others.map(({ id }) => id)])]
  return contactExists({
    message: forceMerge ? `${message}. ${insteadOfMerging(ids)}` : message,
    metadata: { duplicate_identifiers: names },
  })
}

/** The first of them is the one to keep. */
function insteadOfMerging([kept, ...others]: string[]): string {
  const requests = others.map((id) => `DELETE /v3/contacts/${id}`).join(', ')
  const instead =
    others.length === 0
      ? `send updateEnabled: true to change contact ${kept}`
      : `put what is to stay of contact ${others.join(', ')} into contact ${kept}, then ${requests} and send this again`
  return `forceMerge is not supported: ${instead}`
}
