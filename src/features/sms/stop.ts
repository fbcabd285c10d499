// The free way out that each marketing SMS offers, and its use.

export type StopMention = {
  /** Such as "STOP 36111". */
  text: string
  /** The upstream writes it behind every marketing SMS itself. */
  byUpstream: boolean
}

// The word by itself: "non-stop" is an opening time. A short code of STOP begins with 36 and has five digits.
const before = String.raw`(?<![\p{L}\p{N}_]|\p{L}[-‐‑–'’]|\bnon\s+)`
const between = String.raw`(?:[^\p{L}\p{N}]|(?:SMS|MMS|pub|par|au|to|by|via|envoye[rz]|send|text)(?!\p{L})){1,25}`
const mentioned = new RegExp(
  String.raw`${before}STOP(?![\p{L}\p{N}_])${between}36[\s.]?\d{3}(?![\d€%]|\s?[€%])`,
  'iu',
)

function isMentioned(content: string, { text }: StopMention): boolean {
  if (mentioned.test(content)) return true
  const configured = text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`)
  return new RegExp(String.raw`${before}${configured}(?![\p{L}\p{N}])`, 'iu').test(content)
}

export type Written = {
  /** What is handed over. */
  content: string
  /** What the recipient reads, and what is counted. */
  shown: string
}

export function withStop(content: string, stop: StopMention): Written {
  const shown = `${content}\n${stop.text}`
  if (stop.byUpstream) return { content, shown }
  return isMentioned(content, stop) ? { content, shown: content } : { content: shown, shown }
}

/** Whether a reply takes its sender off. Some write the short code of the mention right behind the word. */
export function isStop(reply: string): boolean {
  const plain = reply.normalize('NFD').replaceAll(/\p{M}/gu, '')
  return /^[^\p{L}\p{N}]*(stop|stopsms|arret)\d*(?![\p{L}\p{N}])/iu.test(plain)
}
