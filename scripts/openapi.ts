// Writes docs/openapi.json from the declared operations; --check fails when the file differs, so that every
// change of the interface shows in review.
import { readFile, writeFile } from 'node:fs/promises'
import { openapiDocument } from '../src/faces/openapi/document.ts'
import { declarationsOnly } from '../src/main/operations.ts'

const file = 'docs/openapi.json'
const about = { version: '0.0.0', baseUrl: 'http://127.0.0.1:8025' }
const text = `${JSON.stringify(openapiDocument(declarationsOnly(), about), null, 2)}\n`

if (process.argv.includes('--check')) {
  const written = await readFile(file, 'utf8').catch(() => '')
  if (written !== text) {
    console.error(`${file} is out of date; run: npm run openapi`)
    process.exitCode = 1
  }
} else {
  await writeFile(file, text)
}
