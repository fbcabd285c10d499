// What becomes of the bytes that are uploaded.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { describe, test } from 'node:test'
import sharp from 'sharp'
import { makeMediaApp } from './fixtures/app.ts'
import { animated, flat, formats, make, noise, photo, pngSaying } from './fixtures/images.ts'

const app = await makeMediaApp()

async function kept(content: Buffer): Promise<{ body: Record<string, unknown>; bytes: Buffer }> {
  const { status, body, text } = await app.upload(content)
  assert.equal(status, 201, text)
  const seen = await app.see(body.url)
  assert.equal(seen.status, 200)
  return { body, bytes: Buffer.from(await seen.arrayBuffer()) }
}

async function assertRefused(content: Buffer, says: RegExp): Promise<void> {
  const before = (await app.files()).length
  const reply = await app.upload(content)
  assert.deepEqual([reply.status, reply.body.code], [400, 'invalid_parameter'], reply.text)
  assert.match(reply.body.message, says)
  assert.equal((await app.files()).length, before)
}

describe('an image', () => {
  for (const format of formats) {
    test(`of the type ${format} is kept as that, whatever it is called`, async () => {
      const { body, bytes } = await kept(await make(format))
      assert.deepEqual([body.contentType, body.width, body.height], [`image/${format}`, 30, 20])
      assert.equal(body.url, `http://test/m/${body.uuid}`)
      assert.equal(body.size, bytes.length)
      const facts = await sharp(bytes).metadata()
      assert.deepEqual([facts.format, facts.width, facts.height], [format, 30, 20])
    })
  }

  for (const format of ['gif', 'webp'] as const) {
    test(`that moves goes on moving: ${format}`, async () => {
      const { body, bytes } = await kept(await animated(format))
      assert.deepEqual([body.width, body.height], [40, 30])
      const facts = await sharp(bytes, { animated: true }).metadata()
      assert.deepEqual([facts.pages, facts.delay, facts.loop], [3, [100, 200, 300], 2])
    })
  }

  test('stands upright and tells neither who took it nor where', async () => {
    const taken = await photo()
    assert.deepEqual([(await sharp(taken).metadata()).orientation, taken.includes('Geheim')], [6, true])
    const { body, bytes } = await kept(taken)
    assert.deepEqual([body.width, body.height], [20, 60])
    const { orientation, exif, xmp, icc } = await sharp(bytes).metadata()
    assert.deepEqual([orientation, exif, xmp, icc], [undefined, undefined, undefined, undefined])
    assert.ok(!bytes.includes('Geheim'))
  })

  test('in the colours of print, or with 16 bits, becomes one that every mail program shows', async () => {
    const print = await flat(30, 20).toColourspace('cmyk').jpeg().toBuffer()
    assert.equal((await sharp(print).metadata()).space, 'cmyk')
    assert.equal((await sharp((await kept(print)).bytes).metadata()).space, 'srgb')
    const deep = await flat(30, 20).toColourspace('rgb16').png().toBuffer()
    assert.equal((await sharp(deep).metadata()).depth, 'ushort')
    assert.equal((await sharp((await kept(deep)).bytes).metadata()).depth, 'uchar')
  })

  test('with transparency and with a palette keeps its pixels', async () => {
    const clear = { r: 10, g: 200, b: 90, alpha: 0.5 }
    const see = (content: Buffer) => sharp(content).ensureAlpha().raw().toBuffer()
    for (const palette of [false, true]) {
      const create = { width: 8, height: 8, channels: 4, background: clear } as const
      const content = await sharp({ create }).png({ palette }).toBuffer()
      assert.deepEqual(await see((await kept(content)).bytes), await see(content))
    }
  })
})

describe('what hides in an image', () => {
  test('or hangs behind it does not come through', async () => {
    const script = '<html><script>alert(document.domain)</script></html>'
    const commented = await sharp(await make('jpeg'))
      .withExif({ IFD0: { Artist: script } })
      .jpeg()
      .toBuffer()
    const contents = [commented]
    for (const format of formats) contents.push(Buffer.concat([await make(format), Buffer.from(script)]))
    for (const content of contents) {
      assert.ok(content.includes('<script>'))
      const { bytes } = await kept(content)
      assert.ok(!bytes.includes('<script>') && !bytes.includes('<html>'))
    }
  })

  test('a GIF that is a script as well is refused, or is an image only', async () => {
    const script = Buffer.from('GIF89a/*\x00\x00\x00\x00*/=1;alert(1);//', 'latin1')
    await assertRefused(script, /broken|announce/)
  })
})

describe('refused with a reason is', () => {
  const only = /^The image is of no type that can be kept: only PNG, JPEG, GIF and WebP are taken\.$/

  test('what is none of the four types', async () => {
    const svg = '<svg xmlns="http://www.w3.org/2000/svg" width="4" height="4"><script>alert(1)</script></svg>'
    const others = [
      svg,
      `<?xml version="1.0"?>${svg}`,
      '<!doctype html><p>Hello',
      '%PDF-1.7\n',
      'x',
      'BM',
      'RIFF',
    ]
    for (const other of others) await assertRefused(Buffer.from(other), only)
    for (const other of ['avif', 'tiff'] as const)
      await assertRefused(await flat(10, 10).toFormat(other).toBuffer(), only)
    await assertRefused(randomBytes(10_000), only)
  })

  test('what only begins like one', async () => {
    for (const start of ['\x89PNG\r\n\x1a\n', '\xff\xd8\xff\xe0', 'GIF89a', 'RIFF\x10\x00\x00\x00WEBP'])
      for (const rest of [Buffer.alloc(0), randomBytes(200), Buffer.from('<svg onload="alert(1)">')])
        await assertRefused(Buffer.concat([Buffer.from(start, 'latin1'), rest]), /broken/)
  })

  test('one that is cut short', async () => {
    for (const format of formats) {
      const whole = await noise(200, 150).toFormat(format).toBuffer()
      for (const part of [0.1, 0.5, 0.95])
        await assertRefused(whole.subarray(0, Math.floor(whole.length * part)), /broken or cut short/)
    }
  })

  test('one that unfolds to more than it should, before it is decoded', async () => {
    const flatOne = await flat(8_000, 8_000).png().toBuffer()
    assert.ok(flatOne.length < 1_000_000)
    const before = process.memoryUsage.rss()
    for (const bomb of [pngSaying(50_000, 50_000), pngSaying(2 ** 31 - 1, 2 ** 31 - 1), flatOne])
      await assertRefused(bomb, /40 million pixels|broken/)
    assert.ok(process.memoryUsage.rss() - before < 150 * 1024 * 1024)
    await assertRefused(await flat(20_000, 4).png().toBuffer(), /wider or higher than 16383/)
    await assertRefused(pngSaying(0, 0), /broken/)
  })

  test('an animation of too many frames, or of too many pixels in all', async () => {
    await assertRefused(await animated('gif', { frames: 501, width: 2, height: 2 }), /more than 500 frames/)
    await assertRefused(
      await animated('gif', { frames: 6, width: 3_000, height: 3_000 }),
      /40 million pixels/,
    )
  })
})
