// What RFC 3986 allows in an address.
const plain = /^[\w\-.~:/?#[\]@!$&'()*+,;=%]*$/

/**
 * An http(s) address as it may stand in a Location header, leading where a browser would have gone from it; nothing
 * when it would have gone nowhere. What is plain already keeps its spelling.
 */
export function locationOf(address: string): string | undefined {
  const url = urlOf(address)
  if (url === undefined || !/^https?:$/.test(url.protocol)) return undefined
  return plain.test(address) ? address : url.href
}

// Longer than any address that servers take. The parser takes the square of the length of a host in other letters.
const longestUrl = 8_192

/** Nothing when it cannot be read. */
export function urlOf(address: string): URL | undefined {
  return address.length <= longestUrl && URL.canParse(address) ? new URL(address) : undefined
}
