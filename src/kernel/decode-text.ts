// Text as strangers encoded it.

// What stands from 80 to 9f. Node 20 decodes windows-1252 as if it were ISO 8859-1, which has nothing there.
export const windowsUpper = '€\x81‚ƒ„…†‡ˆ‰Š‹Œ\x8dŽ\x8f\x90‘’“”•–—˜™š›œ\x9džŸ'

/** What Windows writes in western Europe; under the names of ISO 8859-1 and of ASCII as well, as in every browser. */
export function decodeWindows(body: Buffer): string {
  return body
    .toString('latin1')
    .replaceAll(/[\x80-\x9f]/g, (one) => windowsUpper[one.charCodeAt(0) - 0x80] ?? one)
}

/** Undefined when the encoding is unknown or the bytes are not of it. */
export function decodeStrictly(body: Buffer, encoding: string): string | undefined {
  try {
    const decoder = new TextDecoder(encoding, { fatal: true })
    return decoder.encoding === 'windows-1252' ? decodeWindows(body) : decoder.decode(body)
  } catch {
    return undefined
  }
}
