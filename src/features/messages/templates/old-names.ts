// Attributes as they were named before the template language.
const older: Record<string, string | undefined> = { FNAME: 'FIRSTNAME', LNAME: 'LASTNAME' }

export function outputOf(name: string): string {
  const other = older[name]
  return other ? `{{ contact.${name} | default: contact.${other} }}` : `{{ contact.${name} }}`
}

/** Names in single braces are attributes in the field that names the recipient. */
export function toFieldSource(toField: string): string {
  return toField.replace(/(?<!\{)\{(\w+)\}(?!\})/g, (_, name: string) => outputOf(name))
}
