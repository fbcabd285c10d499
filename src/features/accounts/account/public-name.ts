/** What the first account is called until somebody names it: posthorn account rename. */
export const firstAccountName = 'default'

/** What strangers may be shown; nothing while nobody has chosen a name. */
export function publicName(name: string): string | undefined {
  return name === firstAccountName ? undefined : name
}
