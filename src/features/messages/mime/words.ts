// Encoded-words, RFC 2047: how text outside ASCII travels in a header.

const opening = { B: '=?UTF-8?B?', Q: '=?UTF-8?Q?' } as const
const closing = '?='
const longestWord = 75
const around = opening.B.length + closing.length

// What may stand as itself in Q everywhere, in a display name too (RFC 2047 §5.3).
const plainInQ = /^[A-Za-z0-9!*+/-]$/

/** The text as encoded-words of at most 75 characters, the first of at most `firstRoom`. */
export function encodedWords(text: string, firstRoom: number): string[] {
  const points = Array.from(text, (point) => ({ point, q: inQ(point), bytes: Buffer.byteLength(point) }))
  const lengthInQ = points.reduce((sum, { q }) => sum + q.length, 0)
  const lengthInB = Math.ceil(points.reduce((sum, { bytes }) => sum + bytes, 0) / 3) * 4
  const room = Math.min(firstRoom, longestWord)
  return lengthInQ <= lengthInB
    ? wordsInQ(
        points.map(({ q }) => q),
        room,
      )
    : wordsInB(points, room)
}

function inQ(point: string): string {
  if (plainInQ.test(point)) return point
  if (point === ' ') return '_'
  return hexOf(point, '=')
}

/** Each octet of its UTF-8 form behind the sign. */
export function hexOf(point: string, sign: '=' | '%'): string {
  return Buffer.from(point).toString('hex').toUpperCase().replace(/../g, `${sign}$&`)
}

// A code point is never split over two words (RFC 2047 §5): each is decoded by itself.
function wordsInQ(points: string[], firstRoom: number): string[] {
  const words: string[] = []
  let [word, room] = ['', firstRoom - around]
  for (const point of points) {
    if (word !== '' && word.length + point.length > room) {
      words.push(opening.Q + word + closing)
      word = ''
      room = longestWord - around
    }
    word += point
  }
  words.push(opening.Q + word + closing)
  return words
}

function wordsInB(points: { point: string; bytes: number }[], firstRoom: number): string[] {
  const words: string[] = []
  const bytesIn = (room: number) => Math.floor((room - around) / 4) * 3
  const close = (word: string) => words.push(opening.B + Buffer.from(word).toString('base64') + closing)
  let [word, size, room] = ['', 0, bytesIn(firstRoom)]
  for (const { point, bytes } of points) {
    if (size > 0 && size + bytes > room) {
      close(word)
      word = ''
      size = 0
      room = bytesIn(longestWord)
    }
    word += point
    size += bytes
  }
  close(word)
  return words
}
