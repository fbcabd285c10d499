// Attributes and links as they were written before the template language.
const older: Record<string, string | undefined> = { FNAME: 'FIRSTNAME', LNAME: 'LASTNAME' }

function outputOf(name: string): string {
  const other = older[name]
  return other ? `{{ contact.${name} | default: contact.${other} }}` : `{{ contact.${name} }}`
}

/** Names in single braces are attributes in the field that names the recipient. */
export function toFieldSource(toField: string): string {
  return toField.replace(/(?<!\{)\{(\w+)\}(?!\})/g, (_, name: string) => outputOf(name))
}

const placeholders: [RegExp, string][] = [
  [
    /\[DEFAULT_HEADER\]/g,
    '<p>If you cannot read this message, <a href="{{ mirror }}">open it in a browser</a>.</p>',
  ],
  [/\[DEFAULT_FOOTER\]/g, '<p><a href="{{ unsubscribe }}">Unsubscribe</a></p>'],
  [/\[MIRROR\]/g, '{{ mirror }}'],
  [/\[UNSUBSCRIBE\]/g, '{{ unsubscribe }}'],
  [/\[UPDATE_PROFILE\]/g, '{{ update_profile }}'],
  [/\[DOUBLEOPTIN\]/g, '{{ doubleoptin }}'],
]

export const withLinks = (source: string) =>
  source.includes('[')
    ? placeholders.reduce((text, [old, now]) => text.replace(old, () => now), source)
    : source

/** The names of the account's attributes. */
export type Names = readonly string[]

const oldNames = /(?<![{$])\{([A-Z][A-Z0-9_]*)\}(?!\})|(?<![{%\w])%([A-Z][A-Z0-9_]*)%(?![}%\w])/g
const usualNames = ['EMAIL', 'SMS', 'FIRSTNAME', 'LASTNAME', 'FNAME', 'LNAME']

/** Whether the names of the attributes are worth looking up. */
export const mayHaveNames = (source: string) => /[{%][A-Z]/.test(source) && source.search(oldNames) >= 0

/** {FIRSTNAME} and %FIRSTNAME%, where it is the name of an attribute: braces and per cents mean other things too. */
export function withValues(source: string, names: Names): string {
  if (!/[{%][A-Z]/.test(source)) return source
  const known = new Set([...usualNames, ...names])
  return source.replace(oldNames, (found, braced?: string, marked?: string) => {
    const name = braced ?? marked ?? ''
    return known.has(name) ? outputOf(name) : found
  })
}
