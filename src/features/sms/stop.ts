// The free way out that each marketing SMS offers, and its use.

export type StopMention = {
  /** Such as "STOP 36111". */
  text: string
  /** The upstream writes it behind every marketing SMS itself. */
  byUpstream: boolean
}

const mentioned = /\bSTOP\b\D{0,12}\d(?:\s?\d){4}/i

export type Written = {
  /** What is handed over. */
  content: string
  /** What the recipient reads, and what is counted. */
  shown: string
}

export function withStop(content: string, stop: StopMention): Written {
  const shown = `${content}\n${stop.text}`
  if (stop.byUpstream) return { content, shown }
  return mentioned.test(content) ? { content, shown: content } : { content: shown, shown }
}

/** Whether a reply takes its sender off. */
export function isStop(reply: string): boolean {
  const plain = reply.normalize('NFD').replaceAll(/\p{M}/gu, '')
  return /^[^\p{L}\p{N}]*(stop|stopsms|arret)(?![\p{L}\p{N}])/iu.test(plain)
}
