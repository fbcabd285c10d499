export const scopes = {
  'email.send': 'Sending email, transactional and campaigns',
  'email.read_status': 'Reading the delivery status of messages',
  'domain.read': 'Reading domains and their authentication',
  'domain.write': 'Declaring and verifying a domain',
  'contacts.read': 'Reading contacts and lists',
  'contacts.write': 'Creating and changing contacts and lists',
  'analytics.read': 'Reading statistics and deliverability',
  'settings.write': 'Changing account settings',
  'billing.read': 'Reading usage and quotas',
  'smtp.send': 'Sending through the SMTP relay',
  'events.write': 'Sending custom events and conversions',
} as const

export type Scope = keyof typeof scopes

export const scopeNames = Object.keys(scopes) as Scope[]

export function isScope(word: string): word is Scope {
  return Object.hasOwn(scopes, word)
}

/** A key that declares no scope holds all of them. */
export function holdsScope(held: readonly string[] | null, needed: Scope | null): boolean {
  return needed === null || held === null || held.includes(needed)
}
