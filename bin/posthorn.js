#!/usr/bin/env node
import { existsSync } from 'node:fs'

const cli = new URL('../dist/cli.js', import.meta.url)
if (!existsSync(cli)) {
  process.stderr.write('posthorn: not built yet; run: npm run build\n')
  process.exit(1)
}
const { main } = await import(cli.href)
await main(process.argv)
