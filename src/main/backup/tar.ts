// The tar format, as far as a backup needs it: plain files, one behind the other, readable by any tar.

export type Entry = { name: string; size: number; body: AsyncIterable<Buffer> }

const block = 512

export async function* writeTar(entries: AsyncIterable<Entry>, at: Date): AsyncGenerator<Buffer> {
  for await (const { name, size, body } of entries) {
    if (Buffer.byteLength(name) > 100) yield* longName(name, at)
    yield header({ name, size, type: '0', at })
    let written = 0
    for await (const chunk of body) {
      written += chunk.length
      yield chunk
    }
    if (written !== size) throw new Error(`${name} has ${written} octets, not ${size}: it changed meanwhile`)
    yield padding(size)
  }
  yield Buffer.alloc(2 * block)
}

type Head = { name: string; size: number; type: string; at: Date }

function header({ name, size, type, at }: Head): Buffer {
  const octal = (value: number, digits: number) => `${value.toString(8).padStart(digits, '0')}\0`
  const made = Buffer.alloc(block)
  made.write(name, 0, 100)
  made.write(octal(0o600, 7) + octal(0, 7) + octal(0, 7), 100)
  made.write(octal(size, 11) + octal(Math.floor(at.getTime() / 1000), 11), 124)
  made.write(`        ${type}`, 148)
  made.write('ustar\x0000', 257)
  const sum = made.reduce((total, octet) => total + octet, 0)
  made.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return made
}

/** An extended header in front of the entry whose name does not fit into its own. */
function* longName(name: string, at: Date): Generator<Buffer> {
  const rest = Buffer.from(` path=${name}\n`)
  // The length counts its own digits.
  let length = rest.length
  while (String(length).length + rest.length !== length) length = String(length).length + rest.length
  const body = Buffer.concat([Buffer.from(String(length)), rest])
  yield header({ name: 'long-name', size: body.length, type: 'x', at })
  yield body
  yield padding(body.length)
}

const padding = (size: number) => Buffer.alloc((block - (size % block)) % block)

/** Each body has to be read before the next entry is asked for; what is left of it is passed over. */
export async function* readTar(source: AsyncIterable<Buffer>): AsyncGenerator<Entry> {
  const from = readerOf(source)
  let given: string | undefined
  for (;;) {
    const head = await from.exactly(block)
    if (head.every((octet) => octet === 0)) return
    const size = Number.parseInt(head.toString('latin1', 124, 135), 8)
    if (head.toString('latin1', 257, 262) !== 'ustar' || Number.isNaN(size)) throw new Error('not a tar file')
    const name = given ?? head.toString('utf8', 0, 100).replace(/\0.*$/s, '')
    given = undefined
    const body = from.pieces(size)
    if (head[156] === 'x'.charCodeAt(0)) given = pathIn(await joined(body))
    else yield { name, size, body }
    for await (const _ of body);
    await from.exactly(padding(size).length)
  }
}

const pathIn = (extended: Buffer) => /^\d+ path=(.*)$/m.exec(extended.toString())?.[1]

export async function joined(body: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks)
}

function readerOf(source: AsyncIterable<Buffer>) {
  const chunks = source[Symbol.asyncIterator]()
  let rest: Buffer = Buffer.alloc(0)
  async function* pieces(size: number): AsyncGenerator<Buffer> {
    for (let left = size; left > 0; ) {
      while (rest.length === 0) {
        const { done, value } = await chunks.next()
        if (done) throw new Error('the file ends in the midst of it')
        rest = value
      }
      const piece = rest.subarray(0, left)
      rest = rest.subarray(piece.length)
      left -= piece.length
      yield piece
    }
  }
  return { pieces, exactly: (size: number) => joined(pieces(size)) }
}
