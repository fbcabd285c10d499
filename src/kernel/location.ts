// What RFC 3986 allows in an address.
const plain = /^[\w\-.~:/?#[\]@!$&'()*+,;=%]*$/

/**
 * An http(s) address as it may stand in a Location header, leading where a browser would have gone from it; nothing
 * when it would have gone nowhere. What is plain already keeps its spelling.
 */
export function locationOf(address: string): string | undefined {
  if (!URL.canParse(address)) return undefined
  const { protocol, href } = new URL(address)
  if (!/^https?:$/.test(protocol)) return undefined
  return plain.test(address) ? address : href
}
