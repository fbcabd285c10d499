import assert from 'node:assert/strict'
import { chmod, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { openDiskStorage } from './disk-storage.ts'

const above = await mkdtemp(join(tmpdir(), 'posthorn-disk-'))
after(() => rm(above, { recursive: true, force: true }))
const folder = join(above, 'media')
const storage = openDiskStorage({ folder })
const name = 'ab/cd/abcd-1.png'

test('a file is what was written, until it is removed', async () => {
  assert.equal(await storage.read(name), undefined)
  const content = Buffer.from('one')
  await storage.write(name, content, 'image/png')
  const file = await storage.read(name)
  assert.deepEqual(file && (await buffer(file)), content)
  assert.deepEqual(await readdir(join(folder, 'ab/cd')), ['abcd-1.png'])
  assert.equal((await stat(join(folder, name))).mode & 0o777, 0o600)
  await storage.remove(name)
  assert.equal(await storage.read(name), undefined)
  await storage.remove(name)
})

test('what an interrupted write has left is never read, and removed with the rest', async () => {
  await writeFile(join(folder, `${name}.part`), 'ha')
  assert.equal(await storage.read(name), undefined)
  await storage.remove(name)
  assert.deepEqual(await readdir(join(folder, 'ab/cd')), [])
})

test('a name that could lead elsewhere becomes no path', async () => {
  for (const wrong of [
    '../x.png',
    '/etc/passwd',
    'a/../../x.png',
    'a\0.png',
    '',
    'x',
    'a/b/',
    '..',
    'a//b.png',
  ]) {
    for (const act of [
      storage.read(wrong),
      storage.remove(wrong),
      storage.write(wrong, Buffer.alloc(1), ''),
    ].map(settled))
      assert.match(await act, /not the name/, wrong)
  }
})

const settled = (promise: Promise<unknown>) => promise.then(String, (error: Error) => error.message)

test('verifying leaves nothing, and says what is wrong', async () => {
  await storage.verify()
  assert.deepEqual(await readdir(folder), ['ab'])
  await writeFile(join(above, 'file'), '')
  await assert.rejects(openDiskStorage({ folder: join(above, 'file') }).verify(), /EEXIST|ENOTDIR/)
  if (process.getuid?.() === 0) return
  const closed = join(above, 'closed')
  await mkdir(closed)
  await chmod(closed, 0o500)
  await assert.rejects(openDiskStorage({ folder: closed }).verify(), /EACCES/)
})
