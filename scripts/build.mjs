// Bundles the service into dist/, so that starting it needs neither a compiler nor a loader.
import { mkdir, readdir, rename, rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { bundling } from './bundling.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))
const draft = `${root}dist.new-${process.pid}`

await build({
  ...bundling,
  absWorkingDir: root,
  entryPoints: { cli: 'src/main/cli.ts' },
  outdir: draft,
})
await swapIn()

// A service may be running from dist: its files stay until the new ones are there, the entry changes last.
async function swapIn() {
  await mkdir(`${root}dist`, { recursive: true })
  const old = new Set(await readdir(`${root}dist`))
  const made = (await readdir(draft)).sort((name) => (name.startsWith('cli.js') ? 1 : -1))
  for (const name of made) await rename(`${draft}/${name}`, `${root}dist/${name}`)
  for (const name of old) if (!made.includes(name)) await rm(`${root}dist/${name}`, { force: true })
  await rm(draft, { recursive: true, force: true })
}
