#!/usr/bin/env node
import { existsSync } from 'node:fs'

const cli = new URL('../dist/cli.js', import.meta.url)
if (!existsSync(cli)) {
  process.stderr.write('posthorn: not built yet; run: npm run build\n')
  process.exit(1)
}
// Whoever reads may stop reading, and a disk may be full; what the command does goes on.
process.stderr.on('error', () => {})
process.stdout.on('error', (error) => {
  if (error.code === 'EPIPE') return
  process.stderr.write(`posthorn: standard output cannot be written: ${error.message}\n`)
  process.exitCode = 1
})
const { main } = await import(cli.href)
await main(process.argv)
