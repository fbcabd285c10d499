// Requests of the media library that succeed, and what must exist before them.
import { Readable } from 'node:stream'
import type { FileStorage } from '../../src/kernel/ports.ts'
import type { App, AppOptions } from '../app.ts'
import type { Example } from './examples.ts'

// One pixel.
export const onePixel =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const image = { name: 'dot.png', content: onePixel }
const unknown = '/v3/media/00000000-0000-4000-8000-000000000000'

export const mediaExamples: Record<string, Partial<Example>> = {
  'v3.media.create': { body: image },
  'v3.media.fetch': { body: { imageUrl: 'https://images.example.com/dot.png' } },
  'v3.media.get': { path: unknown },
  'v3.media.delete': { path: unknown },
}

async function uploaded(app: App, key: string): Promise<Partial<Example>> {
  const { body } = await app.call('POST', '/v3/media', { key, body: image })
  return { path: `/v3/media/${body.uuid}` }
}

export const mediaPrepared: Record<string, (app: App, key: string) => Promise<Partial<Example>>> = {
  'v3.media.get': uploaded,
  'v3.media.delete': uploaded,
}

/** Every address has the same image. */
export const servesImage: AppOptions['fetchClient'] = {
  request: async () => ({ status: 200, headers: {}, body: Buffer.from(onePixel, 'base64') }),
}

export function memoryStorage(): FileStorage & { files: Map<string, Buffer> } {
  const files = new Map<string, Buffer>()
  return {
    kind: 'memory',
    files,
    write: async (name, content) => {
      files.set(name, content)
    },
    read: async (name) => {
      const content = files.get(name)
      return content && Readable.from([content])
    },
    remove: async (name) => {
      files.delete(name)
    },
    verify: async () => {},
  }
}
