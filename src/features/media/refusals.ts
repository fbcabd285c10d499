import { refusal } from '../../kernel/refusal.ts'
import { inMegabytes, mediaLimits } from './limits.ts'

export const mediaFull = refusal({
  code: 'media_limit_reached',
  kind: 'refused',
  message:
    `The media library holds at most ${mediaLimits.images} images ` +
    `and ${inMegabytes(mediaLimits.bytes)} together: delete some first.`,
})

export const mediaUnavailable = refusal({
  code: 'media_unavailable',
  kind: 'unavailable',
  message: 'The place where images are kept cannot be reached at the moment.',
  hint: 'Call again later.',
})
