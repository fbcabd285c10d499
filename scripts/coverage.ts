// Writes the tables of docs/moving-from-brevo.md from the declared operations; --check fails when they differ.
import { readFile, writeFile } from 'node:fs/promises'
import { withTables } from './coverage-table.ts'

const file = 'docs/moving-from-brevo.md'
const page = await readFile(file, 'utf8')
const written = withTables(page)

if (!process.argv.includes('--check')) await writeFile(file, written)
else if (written !== page) {
  console.error(`${file} is out of date; run: npm run coverage`)
  process.exitCode = 1
}
