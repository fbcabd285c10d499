// The same question asked where there is much and where there is little.

import { onDatabase } from './cases/fill.ts'
import type { Figure } from './figure.ts'
import { benchKey } from './start.ts'

const rounds = 5
const readsPerRound = 300

export type Pair = { many: number; few: number }

/** Both take turns, so that a busy moment of the machine touches both. */
export async function takeTurns(measure: (which: keyof Pair) => Promise<number>): Promise<Pair> {
  const found: Record<keyof Pair, number[]> = { many: [], few: [] }
  for (let round = 0; round < rounds; round++)
    for (const which of ['few', 'many'] as const) found[which].push(await measure(which))
  // The quietest round: what else the machine does only adds.
  return { many: Math.min(...found.many), few: Math.min(...found.few) }
}

export async function secondDatabase(url: string, name: string): Promise<string> {
  await onDatabase(url, (client) => client.query(`create database ${name}`))
  const second = new URL(url)
  second.pathname = `/${name}`
  return second.href
}

export async function p99Ms(url: string, reads = readsPerRound): Promise<number> {
  const times: number[] = []
  for (let n = 0; n < reads; n++) {
    const started = performance.now()
    const response = await fetch(url, { headers: { 'api-key': benchKey } })
    await response.text()
    times.push(performance.now() - started)
    if (response.status !== 200) throw new Error(`${url} answered ${response.status}`)
  }
  return times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0
}

type Row = { name: string; anchor: string; atMost: number }

export function figureOf(row: Row, { many, few }: Pair): Figure {
  return { ...row, measured: many, anchorMeasured: few, ratio: many / few, wanted: 0 }
}
