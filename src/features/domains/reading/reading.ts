/** What public DNS says of one record that should be there. */
export type State = 'ok' | 'missing' | 'mismatch' | 'multiple' | 'invalid' | 'unreadable'

export type Remark = { code: string; message: string }

export type Reading = {
  state: State
  /** The records as they stand, joined from their strings. */
  found: string[]
  /** What a person can act on. */
  explanation: string
  /** Remarks that do not make the record bad: an obsolete tag, a policy of none, too permissive an end. */
  remarks: Remark[]
}

// Anybody may write anything into DNS. The longest record of use, a key of 4096 bits, has 800 characters.
const [mostFound, longestFound, longestQuoted] = [10, 1_000, 200]
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is taken out
const control = /[\u0000-\u001f\u007f-\u009f]/g

/** `found` may be what DNS answered: it is made fit to be shown. */
export function reading(state: State, explanation: string, found: string[] = []): Reading {
  return {
    state,
    found: found.slice(0, mostFound).map((text) => cut(text, longestFound)),
    explanation,
    remarks: [],
  }
}

export function unreadable(type: string, host: string): Reading {
  return reading(
    'unreadable',
    `Public DNS gave no answer for the ${type} record of ${host}; this says nothing about it.`,
  )
}

/** A text from DNS inside a sentence. */
export function quoted(text: string): string {
  return `"${cut(text, longestQuoted)}"`
}

function cut(text: string, length: number): string {
  const clean = text.replaceAll(control, '')
  return clean.length > length ? `${clean.slice(0, length)}…` : clean
}

/** The form that names are compared by. */
export function normalName(name: string): string {
  return name.toLowerCase().replace(/\.$/, '')
}
