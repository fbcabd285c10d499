// One account, what is known of it, and how something is done to both.
import assert from 'node:assert/strict'
import type { App } from '../app.ts'
import type { Dice } from '../fuzz/dice.ts'
import * as model from './model.ts'

export const emails = ['ann@a.example', 'bo@a.example', 'cy@b.example', 'di@b.example']
export const phones = ['33612345671', '33612345672', '33612345673']
export const extIds = ['x1', 'x2', 'x3']

export type World = {
  app: App
  key: string
  accountId: string
  lists: number[]
  dice: Dice
  known: model.Model
}

export type Act = (world: World) => Promise<string | undefined>

/** The model refuses what the service refuses. */
export async function both(
  { known }: World,
  told: string,
  act: () => void,
  ask: () => Promise<{ status: number; text: string }>,
) {
  const before = structuredClone(known)
  let isRefused = false
  try {
    act()
  } catch (error) {
    if (!(error instanceof model.Refused)) throw error
    isRefused = true
    Object.assign(known, before)
  }
  const { status, text } = await ask()
  assert.ok(status < 500 && status >= 400 === isRefused, `${told}: ${isRefused} ${status} ${text}`)
  return told
}

export const call = ({ app, key }: World, method: string, path: string, body?: unknown) =>
  app.call(method, path, { key, body })

export const some = <T>({ dice }: World, all: readonly T[], chance: number) =>
  dice.chance(chance) ? dice.pick(all) : undefined
