/** Relaxed: of the same organisation; strict: the same name. */
export function isAligned(
  from: string,
  authenticated: string,
  mode: 'r' | 's',
  organisationOf: (domain: string) => string,
): boolean {
  const [one, other] = [from.toLowerCase(), authenticated.toLowerCase()]
  return one === other || (mode === 'r' && organisationOf(one) === organisationOf(other))
}
