export type Reply = { code: number; lines: string[] }
export type Garbage = { garbage: string }

export type ReplyReader = {
  push(bytes: Buffer): void
  /** The next complete reply, or what cannot be one. */
  next(): Reply | Garbage | undefined
}

// RFC 5321 4.5.3.1.5 allows 512 octets a line; real servers write longer explanations.
const longestLine = 4096
const mostLines = 128

export function openReplyReader(): ReplyReader {
  let text = ''
  let lines: string[] = []
  let code = 0

  const next = (): Reply | Garbage | undefined => {
    for (;;) {
      const end = text.indexOf('\n')
      if (end > longestLine || (end < 0 && text.length > longestLine))
        return { garbage: `a line of more than ${longestLine} characters` }
      if (end < 0) return undefined
      const line = text.slice(0, text.charCodeAt(end - 1) === 13 ? end - 1 : end)
      text = text.slice(end + 1)
      const lineCode = codeOf(line)
      if (lineCode === undefined || (lines.length > 0 && lineCode !== code))
        return { garbage: `"${printable(line).slice(0, 80)}"` }
      if (lines.length === mostLines) return { garbage: `more than ${mostLines} lines` }
      code = lineCode
      lines.push(line.slice(4))
      if (line.charAt(3) === '-') continue
      const reply = { code, lines }
      lines = []
      return reply
    }
  }

  return {
    push(bytes) {
      text += bytes.toString('latin1')
    },
    next,
  }
}

function codeOf(line: string): number | undefined {
  return /^[2-5]\d\d([ -]|$)/.test(line) ? Number(line.slice(0, 3)) : undefined
}

/** Control characters have no business in a log or in the database, which takes no NUL. */
export function printable(line: string): string {
  const isAscii = !/[\x80-\xff]/.test(line)
  const text = isAscii ? line : Buffer.from(line, 'latin1').toString('utf8')
  return text.replace(/[\p{Cc}\s]+/gu, ' ').trim()
}
