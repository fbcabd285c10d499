// A campaign: the freezing of its recipients, and its way to an SMTP server.
import { generateKeyPairSync } from 'node:crypto'
import { makeCampaign, progress } from '../../src/features/campaigns/sending/fixtures/campaigns.ts'
import { freezeCampaigns } from '../../src/features/campaigns/sending/freeze-campaigns.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { openPools } from '../../src/main/wire.ts'
import { compare, type Figure } from '../figure.ts'
import { firstLine, startChild } from '../start.ts'
import { onDatabase } from './fill.ts'
import { memoryFigure, runEngine, transactionalRate, withPlace } from './sending.ts'

const recipients = Number(process.env.BENCH_CAMPAIGN_RECIPIENTS ?? 200_000)
// So many that the half before the measured one is enough for everything to be compiled.
const perRound = Number(process.env.BENCH_CAMPAIGN_MESSAGES ?? 32_000)
const loopCount = 3_200

const paragraph =
  '<p style="margin:0 0 16px">Our news of the month, and what is in it for you and your plans. </p>'
const links = Array.from(
  { length: 10 },
  (_, n) => `<li><a href="https://shop.example.com/news/2026/november/${n}?ref=news">Number ${n}</a></li>`,
)
const html = [
  '<html><body><h1>Hello {{ contact.FIRSTNAME }}</h1>',
  `<p>To {{ contact.EMAIL }} in {{ contact.CITY }}, plan {{ contact.PLAN }}, {{ contact.POINTS }} points.</p>`,
  paragraph.repeat(15),
  `<ul>${links.join('')}</ul>`,
  '<p><a href="{{ unsubscribe_url }}">Unsubscribe</a></p></body></html>',
].join('\n')

type Ground = { owner: { accountId: string; keyId: string }; listId: number }

/** A list of so many; one in a hundred has unsubscribed, and one in a hundred is suppressed. */
function fillList(url: string, count: number): Promise<Ground> {
  return onDatabase(url, async (client) => {
    const one = async (text: string, values: unknown[] = []) => (await client.query(text, values)).rows[0]
    const key = await one('select id, account_id from api_keys limit 1')
    const account = [key.account_id]
    const list = await one(
      `insert into lists (account_id, name, created_at) values ($1, 'all', now()) returning id`,
      account,
    )
    await client.query(
      `with people as (
         insert into contacts (account_id, email, attributes, status, consent_source, created_at, modified_at)
         select $1, 'c' || n || '@example.org',
                jsonb_build_object('FIRSTNAME', 'Ann ' || n, 'CITY', 'Paris', 'PLAN', 'gold', 'POINTS', n),
                case when n % 100 = 50 then 'unsubscribed' else 'subscribed' end, 'form', now(), now()
           from generate_series(1, $3::int) n
         returning id)
       insert into list_members (account_id, list_id, contact_id, added_at) select $1, $2, id, now() from people`,
      [key.account_id, list.id, count],
    )
    await client.query(
      `insert into suppressions (account_id, email, reason, source, created_at, id)
       select $1, 'c' || n || '@example.org', 'hard_bounce', 'bounce', now(), uuidv7()
         from generate_series(1, $2::int, 100) n`,
      [key.account_id, count],
    )
    await client.query('vacuum analyze contacts, list_members, suppressions')
    return { owner: { accountId: key.account_id, keyId: key.id }, listId: Number(list.id) }
  })
}

export function benchFreezing(): Promise<Figure[]> {
  return withPlace(async (url) => {
    const { owner, listId } = await fillList(url, recipients)
    const pools = openPools({ url, log: silentLog, strict: false })
    const { db } = pools
    const id = await makeCampaign(db, owner, { recipients: { listIds: [listId] }, html })
    const measured = await seconds(() =>
      freezeCampaigns({ db, log: silentLog, stopping: new AbortController().signal }, new Date()),
    )
    const { total } = await progress(db, id)
    if (total !== recipients) throw new Error(`${total} of ${recipients} were frozen`)
    await pools.close()
    const anchorMeasured = await onDatabase(url, async (client) => {
      await client.query('create unlogged table same as select * from messages')
      await client.query('truncate messages, message_events')
      await client.query('checkpoint')
      return seconds(() => client.query('insert into messages select * from same'))
    })
    const name = `freezing ${recipients.toLocaleString('en')} recipients, seconds`
    const ratio = measured / anchorMeasured
    return [
      {
        name,
        anchor: 'insert … select of the same rows',
        measured,
        anchorMeasured,
        ratio,
        wanted: 0,
        atMost: 3,
      },
    ]
  })
}

async function seconds(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return (performance.now() - started) / 1000
}

/** Makes a campaign to all of a list of so many, and sends it. */
async function campaignSender(url: string, port: string, count: number) {
  const { owner, listId } = await fillList(url, count)
  const going = String(count - 2 * Math.ceil(count / 100))
  return async (pem: string) => {
    const pools = openPools({ url, log: silentLog, strict: false })
    await makeCampaign(pools.db, owner, { recipients: { listIds: [listId] }, html })
    await pools.close()
    return runEngine('campaign-engine', url, port, going, pem)
  }
}

/** The memory of the sending process after ten thousand recipients and after very many. */
export function benchCampaignMemory(): Promise<Figure[]> {
  const count = Number(process.env.BENCH_MEMORY_RECIPIENTS ?? 1_000_000)
  return withPlace(async (url, port) => {
    const send = await campaignSender(url, port, count)
    return [memoryFigure(`a campaign to ${count.toLocaleString('en')}`, await send(''))]
  })
}

export function benchCampaign(): Promise<Figure[]> {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
  return withPlace(async (url, port) => {
    const send = await campaignSender(url, port, perRound)
    const rate = async () => (await send(pem)).at(-1)?.rate ?? 0
    const loop = async () =>
      Number(await firstLine(startChild('plain-campaign', port, String(loopCount), pem, html)))
    const name = 'campaign to SMTP sink, 3 kB, ten tracked links, DKIM'
    const looped = { name, anchor: 'liquidjs, nodemailer: render, build, sign, send in a loop', wanted: 5 }
    const own = { name, anchor: 'transactional messages of 2 kB, DKIM', wanted: 1 / 1.5 }
    return [
      await compare(looped, rate, loop),
      await compare(own, rate, () => transactionalRate(url, port, pem)),
    ]
  })
}
