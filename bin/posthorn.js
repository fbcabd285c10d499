#!/usr/bin/env node
import { existsSync } from 'node:fs'

const cli = new URL('../dist/cli.js', import.meta.url)
if (!existsSync(cli)) {
  process.stderr.write('posthorn: not built yet; run: npm run build\n')
  process.exit(1)
}
// Whoever reads may stop reading; what the command does goes on.
for (const stream of [process.stdout, process.stderr])
  stream.on('error', (error) => {
    if (error.code !== 'EPIPE') throw error
  })
const { main } = await import(cli.href)
await main(process.argv)
