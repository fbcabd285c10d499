// What the first bytes say that a file is. Neither its name nor what the caller calls it counts.

export const imageTypes = {
  png: { contentType: 'image/png', ending: 'png' },
  jpeg: { contentType: 'image/jpeg', ending: 'jpg' },
  gif: { contentType: 'image/gif', ending: 'gif' },
  webp: { contentType: 'image/webp', ending: 'webp' },
} as const

export type ImageType = keyof typeof imageTypes

export function imageTypeOf(content: Buffer): ImageType | undefined {
  const head = content.toString('latin1', 0, 12)
  if (head.startsWith('\x89PNG\r\n\x1a\n')) return 'png'
  if (head.startsWith('\xff\xd8\xff')) return 'jpeg'
  if (/^GIF8[79]a/.test(head)) return 'gif'
  if (/^RIFF.{4}WEBP$/s.test(head)) return 'webp'
  return undefined
}
