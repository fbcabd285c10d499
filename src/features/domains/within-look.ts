// Anybody may write into DNS what leads from one question to the next, and name servers that never answer.
import type { Dns } from '../../kernel/ports.ts'

const longestLookMs = 15_000

/**
 * A look that ends: each question is asked once, and what has no answer when the time is over is unreadable, so that
 * whatever was known of it stays.
 */
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
  const once = <A>(question: (name: string) => Promise<A>) => {
    const asked = new Map<string, Promise<A | 'unreadable'>>()
    return (name: string): Promise<A | 'unreadable'> => {
      const answer = asked.get(name) ?? (isOver ? over : Promise.race([question(name), over]))
      asked.set(name, answer)
      return answer
    }
  }
  const bounded: Dns = {
    mx: once(dns.mx),
    txt: once(dns.txt),
    cname: once(dns.cname),
    addresses: once(dns.addresses),
    exists: once(dns.exists),
  }
  return look(bounded).finally(() => clearTimeout(timer))
}
