// What is measured in a process of its own runs as it is shipped: bundled, without a loader in between.
import { readdir } from 'node:fs/promises'
import { build } from 'esbuild'

export const builtChildren = 'bench/results/children'

export async function buildChildren(): Promise<void> {
  const names = await readdir('bench/children')
  await build({
    entryPoints: names.map((name) => `bench/children/${name}`),
    outdir: builtChildren,
    bundle: true,
    splitting: true,
    packages: 'external',
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    logLevel: 'warning',
  })
}
