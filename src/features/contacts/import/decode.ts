// Files come in the encodings of the programs that wrote them.

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

// What stands from 80 to 9f. Node 20 decodes windows-1252 as if it were ISO 8859-1, which has nothing there.
const upper = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ'

function decodeWindows(body: Buffer): string {
  return body.toString('latin1').replaceAll(/[\x80-\x9f]/g, (one) => upper[one.charCodeAt(0) - 0x80] ?? one)
}

function markedEncoding(body: Buffer): string | undefined {
  const [first, second, third] = body
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8'
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined
}

/** Undefined when the encoding is unknown or the bytes are not of it. */
function decodeStrictly(body: Buffer, encoding: string): string | undefined {
  try {
    const decoder = new TextDecoder(encoding, { fatal: true })
    return decoder.encoding === 'windows-1252' ? decodeWindows(body) : decoder.decode(body)
  } catch {
    return undefined
  }
}
