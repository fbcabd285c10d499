// An image is never kept as it came: it is decoded and written anew. Metadata, what is hidden in it or hangs behind it,
// and whatever else could be made of the same bytes ends here.
import type { Metadata, Sharp, SharpConstructor } from 'sharp'
import { invalidParameter } from '../../kernel/refusals.ts'
import { type ImageType, imageTypeOf } from './image-type.ts'
import { inMegabytes, mediaLimits } from './limits.ts'
import { takeTurns } from './take-turns.ts'

export type Encoded = { type: ImageType; content: Buffer; width: number; height: number }

// Of a process; each has one thread. Elsewhere threads are needed too, for files and names.
const inTurn = takeTurns({ atOnce: 2, waiting: 64, each: 16 })
const secondsAtMost = 30

export type Given = { accountId: string; content: Buffer; param: string }

/** Refuses what is no image, is broken or too large; `param` is where it came from. */
export async function encodeImage({ accountId, content, param }: Given): Promise<Encoded> {
  const type = imageTypeOf(content)
  if (!type) throw refused(param, 'is of no type that can be kept: only PNG, JPEG, GIF and WebP are taken')
  return inTurn(accountId, async () => {
    const sharp = await loadSharp()
    const open = () =>
      sharp(content, {
        animated: true,
        failOn: 'warning',
        limitInputPixels: mediaLimits.pixels,
        limitInputChannels: 5,
      })
    const facts = await open().metadata().catch(explain(param))
    refuseTooLarge(facts, type, param)
    const { data, info } = await written(open(), facts, type)
      .timeout({ seconds: secondsAtMost })
      .toBuffer({ resolveWithObject: true })
      .catch(explain(param))
    if (data.length > mediaLimits.keptBytes)
      throw refused(param, `is larger than ${inMegabytes(mediaLimits.keptBytes)} once it is written anew`)
    return { type, content: data, width: info.width, height: info.pageHeight ?? info.height }
  })
}

let loaded: Promise<SharpConstructor> | undefined

/** Loaded with the first image, and reduced to what is needed: of dozens of formats four are read. */
function loadSharp(): Promise<SharpConstructor> {
  loaded ??= import('sharp').then(({ default: sharp }) => {
    sharp.cache(false)
    sharp.concurrency(1)
    sharp.block({ operation: ['VipsForeignLoad'] })
    sharp.unblock({ operation: ['Png', 'Jpeg', 'Nsgif', 'Webp'].map((one) => `VipsForeignLoad${one}Buffer`) })
    return sharp
  })
  return loaded
}

/** By the header, before a pixel is decoded. */
function refuseTooLarge(facts: Metadata, type: ImageType, param: string): void {
  const { width, height, pages = 1, pageHeight = height } = facts
  if (facts.format !== type) throw refused(param, 'is not the image that its first bytes announce')
  if (pages > mediaLimits.frames) throw refused(param, `has more than ${mediaLimits.frames} frames`)
  if (width > mediaLimits.side || pageHeight > mediaLimits.side)
    throw refused(param, `is wider or higher than ${mediaLimits.side} pixels`)
}

function written(image: Sharp, facts: Metadata, type: ImageType): Sharp {
  // Frames lie below each other while they are worked on, and cannot be turned.
  const upright = (facts.pages ?? 1) > 1 ? image : image.autoOrient()
  switch (type) {
    case 'png':
      return upright.png()
    case 'jpeg':
      return upright.jpeg({ quality: 88 })
    case 'gif':
      // It has few colours already; scattering them would cost time and change them.
      return upright.gif({ effort: 1, dither: 0 })
    case 'webp':
      return upright.webp({ quality: 88, effort: 3 })
  }
}

const explain = (param: string) => (error: Error) => {
  if (/pixel limit/.test(error.message))
    throw refused(param, `has more than ${mediaLimits.pixels / 1e6} million pixels, all frames together`)
  if (/timeout/i.test(error.message)) throw refused(param, 'takes too long to read')
  throw refused(param, 'is broken or cut short and cannot be read as an image')
}

const refused = (param: string, says: string) => invalidParameter({ message: `The image ${says}.`, param })
