// Files in a folder of this machine.
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { FileStorage } from '../../kernel/ports.ts'

export function openDiskStorage({ folder }: { folder: string }): FileStorage {
  const placeOf = (name: string) => join(folder, checked(name))
  return {
    kind: 'disk',
    write: async (name, content) => write(folder, checked(name), content),
    read: async (name) => {
      const handle = await open(placeOf(name)).catch(undefinedWhenMissing)
      return handle?.createReadStream()
    },
    remove: async (name) => {
      await rm(partOf(placeOf(name)), { force: true })
      await rm(placeOf(name), { force: true })
    },
    verify: async () => {
      const probe = `probe-${process.pid}.txt`
      try {
        await write(folder, probe, Buffer.from('It can be written to.'))
      } finally {
        await rm(partOf(join(folder, probe)), { force: true })
        await rm(join(folder, probe), { force: true })
      }
    },
  }
}

// Names are made by us and say so; one that says anything else is a bug, and must not become a path.
function checked(name: string): string {
  if (/^(\w+\/)*[\w-]+\.\w+$/.test(name)) return name
  throw new Error('not the name of a stored file')
}

const partOf = (place: string) => `${place}.part`

/** A file is whole and on the disk when it gets its name, and so is the name when this ends. */
async function write(folder: string, name: string, content: Buffer): Promise<void> {
  const place = join(folder, name)
  await mkdir(dirname(place), { recursive: true, mode: 0o700 })
  const handle = await open(partOf(place), 'w', 0o600)
  try {
    await handle.writeFile(content)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await rename(partOf(place), place)
  // Any of the folders may have been made just now.
  for (let above = dirname(name); ; above = dirname(above)) {
    await syncFolder(join(folder, above))
    if (above === '.') return
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder)
  await handle.sync().finally(() => handle.close())
}

function undefinedWhenMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code === 'ENOENT') return undefined
  throw error
}
