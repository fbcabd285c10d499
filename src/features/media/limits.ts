// What an account may keep, and what one image may be.

export const mediaLimits = {
  /** As it is uploaded. */
  fileBytes: 10 * 1024 * 1024,
  /** As it is kept: written anew, an image may be larger than it was. */
  keptBytes: 20 * 1024 * 1024,
  /** Of all frames together. */
  pixels: 40_000_000,
  side: 16_383,
  frames: 500,
  /** Of an account. */
  images: 5_000,
  bytes: 2 * 1024 ** 3,
}

export const inMegabytes = (bytes: number) => `${Math.round(bytes / 1024 ** 2)} MB`
