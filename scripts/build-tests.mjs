// Bundles test files, so that each starts without a loader in between: to load hundreds of sources one by one takes
// longer than many of the tests.
import { mkdtemp, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { build } from 'esbuild'
import { bundling } from './bundling.mjs'

/** Gives the folder in which every test stands under its own name, as .js. Whoever asks for it removes it. */
export async function buildTests(files) {
  // Beside the packages, where their names are understood, and out of everybody's way.
  const outdir = await mkdtemp(join('node_modules', '.posthorn-tests-'))
  await build({
    ...bundling,
    entryPoints: files,
    outdir,
    outbase: '.',
    sourcesContent: false,
    plugins: [placed],
  })
  return outdir
}

/** Files that a source names from where it stands are looked for there, not where the bundle is. */
const placed = {
  name: 'placed',
  setup({ onLoad }) {
    onLoad({ filter: /[/\\](src|test|bench|scripts)[/\\].*\.ts$/ }, async ({ path }) => {
      const text = await readFile(path, 'utf8')
      const url = JSON.stringify(pathToFileURL(path).href)
      return { contents: text.replaceAll('import.meta.url', url), loader: 'ts' }
    })
  },
}
