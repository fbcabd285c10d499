// Files come in the encodings of the programs that wrote them.
import { decodeStrictly, decodeWindows } from '../../../kernel/decode-text.ts'

export type FetchedFile = { body: Buffer; contentType: string }

/** By its byte order mark, else as declared, else UTF-8 if it is, else what Windows writes in western Europe. */
export function decodeFile({ body, contentType }: FetchedFile): string {
  const declared = /charset\s*=\s*"?([\w.:-]+)/i.exec(contentType)?.[1]
  const tries = [markedEncoding(body) ?? declared, 'utf-8']
  for (const encoding of tries) {
    const text = encoding === undefined ? undefined : decodeStrictly(body, encoding)
    if (text !== undefined) return text
  }
  return decodeWindows(body)
}

function markedEncoding(body: Buffer): string | undefined {
  const [first, second, third] = body
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8'
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined
}
