// Whose trouble it is that the server refuses in the middle of a message with words that speak of no message, such as
// 421: the message's own as long as it alone meets them. A server that says them to two messages, and takes none in
// between, takes nobody's mail, and no message pays for that.
import type { Outcome } from '../../kernel/ports.ts'

export type Blame = {
  /** It alone was refused so since the server last took a message. */
  isSuspect(id: string): boolean
  /** The outcome, with the fault where it belongs. */
  judge(id: string, outcome: Outcome): Outcome
}

export function openBlame(): Blame {
  let isTaking = false
  // Those refused since the server last took a message; two are as good as all.
  let refused: string[] = []
  return {
    isSuspect: (id) => refused.length === 1 && refused[0] === id,
    judge(id, outcome) {
      if (outcome.kind !== 'deferred' || outcome.fault === 'message') {
        isTaking = true
        refused = []
        return outcome
      }
      const isKnown = refused.includes(id)
      const isAlone = refused.length === (isKnown ? 1 : 0)
      if (!isKnown && refused.length < 2) refused.push(id)
      // The first that a new process hands over may be as unlucky as all others.
      return isAlone && (isTaking || isKnown) ? { ...outcome, fault: 'message' } : outcome
    },
  }
}
