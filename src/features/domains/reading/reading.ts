/** What public DNS says of one record that should be there. */
export type State = 'ok' | 'missing' | 'mismatch' | 'multiple' | 'invalid' | 'unreadable'

export type Reading = {
  state: State
  /** The records as they stand, joined from their strings. */
  found: string[]
  /** What a person can act on. */
  explanation: string
  /** Remarks that do not make the record bad: an obsolete tag, a policy of none, too permissive an end. */
  remarks: { code: string; message: string }[]
}
