// Anybody may write into DNS what leads from one question to the next, and name servers that never answer.
import type { Dns } from '../../kernel/ports.ts'

const longestLookMs = 15_000

/** A look that ends: what has no answer when the time is over is unreadable, so that whatever was known of it stays. */
export async function withinLook<T>(dns: Dns, look: (dns: Dns) => Promise<T>): Promise<T> {
  let end = () => {}
  let isOver = false
  const over = new Promise<'unreadable'>((resolve) => {
    end = () => {
      isOver = true
      resolve('unreadable')
    }
  })
  const timer = setTimeout(end, longestLookMs)
  const inTime =
    <A>(question: (name: string) => Promise<A>) =>
    (name: string): Promise<A | 'unreadable'> =>
      isOver ? over : Promise.race([question(name), over])
  const bounded: Dns = {
    mx: inTime(dns.mx),
    txt: inTime(dns.txt),
    cname: inTime(dns.cname),
    addresses: inTime(dns.addresses),
    exists: inTime(dns.exists),
  }
  return look(bounded).finally(() => clearTimeout(timer))
}
