/**
 * Whether a text is base64. Written without a repeated group: the engine keeps a step of it for each repetition, and a
 * file of four megabytes is more than its stack holds.
 */
export function isBase64(text: string, { padded }: { padded: boolean }): boolean {
  const end = text.endsWith('==') ? -2 : text.endsWith('=') ? -1 : text.length
  const body = text.slice(0, end)
  if (/[^A-Za-z0-9+/]/.test(body) || body.length % 4 === 1) return false
  return padded || text.length > body.length ? text.length % 4 === 0 : true
}
