import type { Dns } from '../../../kernel/ports.ts'

/** Asks each question once. */
export function remembered(dns: Dns): Dns {
  const once = <A>(question: (name: string) => Promise<A>) => {
    const asked = new Map<string, Promise<A>>()
    return (name: string): Promise<A> => {
      const answer = asked.get(name) ?? question(name)
      asked.set(name, answer)
      return answer
    }
  }
  return {
    mx: once(dns.mx),
    txt: once(dns.txt),
    cname: once(dns.cname),
    addresses: once(dns.addresses),
    exists: once(dns.exists),
  }
}
