// Pages, pictures, files and provider reports under bad requests: no failure, nothing reflected, nobody led astray.
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertUnharmed, type Damage, makeTarget, settled, stopAfter } from './barrage.ts'
import { checksumsOf } from './checksum.ts'
import { diceOf } from './dice.ts'
import { type Gun, openGun, type Reply, type Silence } from './gun.ts'
import { faultIn } from './judge.ts'
import { type Door, destination, doorsOf, shotAt } from './outside.ts'
import { curlOf, octetsOf, type Shot } from './shot.ts'

const target = await makeTarget()
stopAfter(target)
const { app, theirs } = target

const seed = Number(process.env.POSTHORN_SEED ?? 1)
const shots = 4_000

test('what answers without a key withstands bad requests', async () => {
  const doors = await doorsOf(app, target.mine)
  const before = await settled(target)
  const damage: Damage[] = []
  let next = 0
  const shootOn = async (gun: Gun) => {
    while (next < shots) await shoot(gun, doors, next++, damage)
    gun.close()
  }
  await Promise.all(Array.from({ length: 8 }, () => shootOn(openGun(Number(new URL(app.url).port)))))
  assertUnharmed(damage, target)
  assert.deepEqual(await checksumsOf(app.databaseUrl, theirs.accountId), before)
})

async function shoot(gun: Gun, doors: Door[], number: number, damage: Damage[]): Promise<void> {
  const dice = diceOf(seed * 1_000_003 + number)
  const shot = shotAt(doors[number % doors.length] as Door, dice)
  const name = `door ${number % doors.length}`
  const got = await target.patient(name, shot, () => gun.fire(octetsOf(shot), shot))
  const fault = faultOf(shot, got)
  if (fault) damage.push({ fault, at: `POSTHORN_SEED=${seed}, shot ${number}\n${curlOf(app.url, shot)}` })
}

function faultOf(shot: Shot, got: Reply | Silence): string | undefined {
  // Agents' tools answer in the form of their own protocol.
  const isOurs = !shot.target.startsWith('/mcp') || 'silent' in got || got.status >= 500
  const place = 'silent' in got ? undefined : got.headers.get('location')
  if (place && !place.startsWith(destination) && !place.startsWith('/docs')) return `leads to ${place}`
  return isOurs ? faultIn(shot, got) : undefined
}
