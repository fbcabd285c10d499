import { createReadStream } from 'node:fs'
import { createGunzip } from 'node:zlib'
import { readTar } from './tar.ts'

/** By its beginning: whether the rest of it is whole is nobody's matter here. */
export async function isBackup(file: string): Promise<boolean> {
  const source = createReadStream(file)
  const unzipped = createGunzip()
  source.on('error', (error) => unzipped.destroy(error))
  try {
    const first = await readTar(source.pipe(unzipped)).next()
    return !first.done && first.value.name === 'manifest.json'
  } catch {
    return false
  } finally {
    source.destroy()
    unzipped.destroy()
  }
}
