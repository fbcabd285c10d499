// Calls of webhooks to a receiver on this machine, and what one that does not answer does to the others.
import { setTimeout as sleep } from 'node:timers/promises'
import type pg from 'pg'
import { sealSecrets } from '../../src/features/webhooks/secrets.ts'
import { compare, type Figure, figureOfTurns, turns } from '../figure.ts'
import { firstLine, startChild, startDatabase, startService, stopChild } from '../start.ts'
import { onDatabase } from './fill.ts'

const perRound = 30_000
const warm = 15_000
const key = Buffer.alloc(32, 7)
const secretKeys = async () => [key]

type Place = { url: string; receiver: string }

async function withReceiver<T>(work: (place: Place) => Promise<T>): Promise<T> {
  const database = await startDatabase()
  const receiver = startChild('receiver')
  try {
    const service = await startService(database.url, ['--role', 'api'])
    await service.stop()
    return await work({ url: database.url, receiver: `http://127.0.0.1:${await firstLine(receiver)}` })
  } finally {
    await stopChild(receiver)
    await database.stop()
  }
}

/** Accounts with a webhook and a message each. */
async function makeAccounts(client: pg.Client, count: number, receiver: string): Promise<void> {
  const secrets = { secret: `whsec_${Buffer.alloc(32, 1).toString('base64')}`, headers: [] }
  for (let n = 0; n < count; n++) {
    const { rows } = await client.query(`insert into accounts (name) values ('bench ${n}') returning id`)
    const accountId = String(rows[0].id)
    const { rows: next } = await client.query(
      `select nextval(pg_get_serial_sequence('webhooks', 'id')) as id`,
    )
    const id = String(next[0].id)
    const sealed = await sealSecrets(secretKeys, { accountId, id }, secrets)
    await client.query(
      `insert into webhooks (account_id, id, type, url, description, events, told_of, batched, sealed, created_at,
                             modified_at)
       values ($1, $2, 'transactional', $3, '', '{click}', '{click}', false, $4, now(), now())`,
      [accountId, id, `${receiver}/hook`, sealed],
    )
  }
}

const messages = `
  insert into messages (id, account_id, key_id, status, source, mode, stream, sender, recipient, subject, tags,
                        message_id, created_at, sent_at)
  select gen_random_uuid(), a.id, gen_random_uuid(), 'delivered', 'api', 'live', 'transactional', 'shop@example.com',
         'r' || n || '@example.org', 'Your order', '{orders}', '<' || n || '@example.com>', now(), now()
    from accounts a, generate_series(1, $1::int) n
   where a.name like 'bench %'`

/** One event of so many messages of each account, which the triggers put into the queue. */
const events = `
  insert into message_events (id, account_id, message_id, type, at, data)
  select gen_random_uuid(), m.account_id, m.id, 'click', clock_timestamp(),
         '{"url": "https://shop.example/order/7", "user_agent": "Mozilla/5.0 (X11; Linux x86_64)",
           "classification": "human"}'
    from accounts a
   cross join lateral (select id, account_id from messages where account_id = a.id limit $1::int) m
   where a.name like 'bench %'`

async function rateOf({ url, receiver }: Place, count: number, run: () => Promise<() => Promise<void>>) {
  const asked = fetch(`${receiver}/rate?warm=${warm}&count=${count}`)
  await sleep(100)
  const stop = await run()
  const { rate } = (await (await asked).json()) as { rate: number }
  await stop()
  await onDatabase(url, (client) => client.query('truncate webhook_deliveries, webhook_queue'))
  return rate
}

async function startEngine(url: string): Promise<() => Promise<void>> {
  const child = startChild('webhook-engine', url, key.toString('hex'))
  await firstLine(child)
  return () => stopChild(child)
}

const body = JSON.stringify({
  ...{ id: 1, event: 'click', email: 'r7@example.org', date: '2026-11-15 19:37:05', ts: 1, ts_event: 1 },
  ...{ 'message-id': '<7@example.com>', ts_epoch: Date.now(), subject: 'Your order', tags: ['orders'] },
  ...{
    tag: '["orders"]',
    sender_email: 'shop@example.com',
    contact_id: 0,
    sending_ip: '',
    device_used: 'DESKTOP',
  },
  ...{ user_agent: 'Mozilla/5.0 (X11; Linux x86_64)', mirror_link: '', classification: 'human' },
  ...{ link: 'https://shop.example/order/7' },
})

async function benchRate(place: Place): Promise<Figure> {
  await onDatabase(place.url, async (client) => {
    await makeAccounts(client, 1, place.receiver)
    await client.query(messages, [perRound])
    await client.query('vacuum analyze')
  })
  const engine = async () => {
    await onDatabase(place.url, (client) => client.query(events, [perRound]))
    return rateOf(place, perRound, () => startEngine(place.url))
  }
  const bare = () =>
    rateOf(place, perRound, async () => {
      const child = startChild('bare-poster', `${place.receiver}/hook`, String(perRound), body)
      return () => stopChild(child)
    })
  return compare({ name: 'webhook calls, one receiver', anchor: 'undici alone', wanted: 0.5 }, engine, bare)
}

const others = 100
const ticks = 30
const tickMs = 200

/** The median time from event to call, in ms, of all that answer. */
async function latency(place: Place, client: pg.Client, lastPath: string): Promise<number> {
  const last = `select max(id) from webhooks`
  await client.query(`update webhooks set failing_since = null, in_trouble = false, leased_until = null`)
  await client.query(`update webhooks set url = $1 where id = (${last})`, [`${place.receiver}/${lastPath}`])
  const stop = await startEngine(place.url)
  for (let tick = 0; tick < ticks; tick++) {
    // The first second warms it up.
    if (tick === 5) await (await fetch(`${place.receiver}/latency`)).json()
    await client.query(events, [1])
    await sleep(tickMs)
  }
  await sleep(1_000)
  const found = (await (await fetch(`${place.receiver}/latency`)).json()) as { median: number; count: number }
  await stop()
  await client.query('truncate webhook_deliveries, webhook_queue')
  if (found.count < (others - 1) * (ticks - 7)) throw new Error(`only ${found.count} calls came`)
  return found.median
}

async function benchDead(place: Place): Promise<Figure> {
  return onDatabase(place.url, async (client) => {
    await client.query(`delete from webhooks`)
    await client.query(`update accounts set name = 'done ' || id`)
    await makeAccounts(client, others, place.receiver)
    await client.query(messages, [1])
    const [dead, well]: [number[], number[]] = [[], []]
    for (let turn = 0; turn < turns; turn++) {
      well.push(await latency(place, client, 'hook'))
      dead.push(await latency(place, client, 'dead'))
    }
    const name = `median ms from event to call, one of ${others} dead`
    return figureOfTurns({ name, anchor: 'all well', wanted: 0, atMost: 1.2 }, dead, well)
  })
}

export function benchWebhooks(): Promise<Figure[]> {
  return withReceiver(async (place) => [await benchRate(place), await benchDead(place)])
}
