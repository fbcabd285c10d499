import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../', import.meta.url))

const folders = ['src', 'bench', 'test', 'scripts', 'bin']
const files = folders.flatMap((folder) =>
  readdirSync(path.join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.(ts|mjs|js)$/.test(name))
    .map((name) => path.join(folder, name)),
)
const texts = new Map(files.map((name) => [name, readFileSync(path.join(root, name), 'utf8')]))

const isTestCode = (name: string) => /\.test\.ts$|fixtures\/|stand-in|^test\//.test(name)
// Taken as a whole, one operation an export.
const isListed = (name: string) => /(^|[./])api\.(own|v3|smtp)\.ts$/.test(path.basename(name))

const wordsOf = (text: string) => new Set(text.match(/\w+/g))
const words = new Map([...texts].map(([name, text]) => [name, wordsOf(text)]))

test('what is exported is used, and not by tests alone', () => {
  const unused: string[] = []
  for (const [name, text] of texts) {
    if (!name.startsWith('src') || isTestCode(name) || isListed(name)) continue
    for (const [, word = ''] of text.matchAll(/^export (?:async )?(?:const|function|type|class) (\w+)/gm)) {
      const isUsedHere = (text.match(new RegExp(`\\b${word}\\b`, 'g')) ?? []).length > 1
      const isUsed = [...words].some(
        ([other, found]) => other !== name && !isTestCode(other) && found.has(word),
      )
      if (!isUsed && !isUsedHere) unused.push(`${name}: ${word}`)
    }
  }
  assert.deepEqual(unused, [])
})

test('every dependency is imported somewhere', () => {
  const { dependencies, devDependencies } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'))
  const all = [...texts.values()].join('\n')
  const scripts = readFileSync(path.join(root, 'package.json'), 'utf8')
  const isUsed = (name: string): boolean =>
    new RegExp(`['"]${name}(/[^'"]*)?['"]`).test(all) ||
    // Called by its command, or the types of something imported.
    new RegExp(`"[^"]*\\b${name.replace(/^@\w+\//, '')} [^"]*"`).test(scripts) ||
    (name.startsWith('@types/') && (name === '@types/node' || isUsed(name.slice('@types/'.length))))
  const names = Object.keys({ ...dependencies, ...devDependencies })
  assert.deepEqual(
    names.filter((name) => !isUsed(name)),
    [],
  )
})
