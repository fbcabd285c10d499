import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { row, text } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'
import { keys } from '../contacts/unsubscribe/fixtures/people.ts'
import { mirrorUrl } from '../messages/mirror-link.ts'
import { addEvent, addMessage, app, base, call, create, db, put, shop } from './fixtures/campaigns.ts'

const webKit = 'AppleWebKit/605.1.15 (KHTML, like Gecko)'
const chrome = 'AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0'
const android = 'Mozilla/5.0 (Linux; Android 15; Pixel 9)'
const mac = 'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)'

type Program = [device: string, system: string, browser: string, userAgent: string | null, reason?: string]

/** What each was, said by hand. */
const programs: Program[] = [
  ['desktop', 'Windows', 'Chrome', `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome} Safari/537.36`],
  [
    'desktop',
    'Windows',
    'Edge',
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${chrome} Safari/537.36 Edg/141.0`,
  ],
  [
    'desktop',
    'Windows',
    'Outlook',
    'Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 10.0; Microsoft Outlook 16.0)',
  ],
  ['desktop', 'Linux', 'Firefox', 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0'],
  [
    'desktop',
    'Linux',
    'Thunderbird',
    'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Thunderbird/140.0',
  ],
  ['desktop', 'macOS', 'Safari', `${mac} ${webKit} Version/18.0 Safari/605.1.15`],
  ['desktop', 'macOS', 'Apple Mail', `${mac} ${webKit}`],
  ['desktop', 'Chrome OS', 'Chrome', `Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${chrome} Safari/537.36`],
  [
    'mobile',
    'iOS',
    'Apple Mail',
    `Mozilla/5.0 (iPhone; CPU iPhone OS 18_6 like Mac OS X) ${webKit} Mobile/15E148`,
  ],
  ['mobile', 'Android', 'Chrome', `${android} ${chrome} Mobile Safari/537.36`],
  ['mobile', 'Android', 'Samsung Internet', `${android} ${chrome} SamsungBrowser/28.0 Mobile Safari/537.36`],
  ['mobile', 'Android', 'Opera', `${android} ${chrome} Mobile Safari/537.36 OPR/90.0`],
  [
    'tablet',
    'iOS',
    'Safari',
    `Mozilla/5.0 (iPad; CPU OS 18_6 like Mac OS X) ${webKit} Version/18.6 Safari/604.1`,
  ],
  ['tablet', 'Android', 'Chrome', `Mozilla/5.0 (Linux; Android 15; SM-X910) ${chrome} Safari/537.36`],
  ['unknown', 'unknown', 'Gmail', null, 'google_image_proxy'],
  ['unknown', 'unknown', 'Yahoo Mail', null, 'yahoo_image_proxy'],
  ['unknown', 'unknown', 'unknown', 'Mozilla/5.0'],
  ['unknown', 'unknown', 'unknown', null],
]

const classes = ['human', 'human', 'privacy_proxy', 'robot']

type Told = { message: number; type: 'open' | 'click'; program: number; classification: string }

/** Many of each for a few messages, always the same ones. */
const history: Told[] = Array.from({ length: 400 }, (_, i) => ({
  message: (i * 7) % 11,
  type: i % 3 === 0 ? 'click' : 'open',
  program: (i * 5) % programs.length,
  classification: classes[(i >> 2) % 4] ?? '',
}))

type Excluded = { robots: boolean; proxies: boolean }

function recount(nameOf: (program: Program) => string, { robots, proxies }: Excluded) {
  const shownOf = (told: Told) =>
    !(robots && told.classification === 'robot') &&
    !(proxies && told.type === 'open' && told.classification === 'privacy_proxy')
  const groups = new Map<string, Told[]>()
  for (const told of history.filter(shownOf)) {
    const name = nameOf(programs[told.program] as Program)
    groups.set(name, [...(groups.get(name) ?? []), told])
  }
  return Object.fromEntries(
    [...groups].map(([name, all]) => {
      const of = (type: string) => all.filter((one) => one.type === type)
      const unique = (type: string) => new Set(of(type).map(({ message }) => message)).size
      const [opens, clicks] = [of('open').length, of('click').length]
      return [
        name,
        { viewed: opens, uniqueViews: unique('open'), clickers: clicks, uniqueClicks: unique('click') },
      ]
    }),
  )
}

describe('what mail was read with', () => {
  test('equals a recount of the events under every setting of the filters', async () => {
    const { accountId, key, listId } = await shop([])
    const id = await create(key, { recipients: { listIds: [listId] } })
    await put(id, 'sent')
    const messages: string[] = []
    for (let i = 0; i < 11; i++)
      messages.push(await addMessage({ accountId, id, name: `m${i}`, status: 'delivered' }))
    for (const { message, type, program, classification } of history) {
      const [, , , user_agent = null, classification_reason] = programs[program] ?? []
      await addEvent(accountId, messages[message] ?? '', type, {
        classification,
        user_agent,
        classification_reason,
      })
    }
    for (const robots of [true, false])
      for (const proxies of [true, false]) {
        const settings = { exclude_robot_activity: robots, exclude_privacy_proxy_opens: proxies }
        await call(key, 'PUT', '/api/v1/settings', settings)
        const { body } = await call(key, 'GET', `${base}/${id}/statistics`)
        assert.deepEqual(
          body.statsByBrowser,
          recount(([, , browser]) => browser, { robots, proxies }),
        )
        const flat = Object.entries(body.statsByDevice as Record<string, object>).flatMap(
          ([device, systems]) =>
            Object.entries(systems).map(([system, seen]) => [`${device} ${system}`, seen]),
        )
        const devices = recount(([device, system]) => `${device} ${system}`, { robots, proxies })
        assert.deepEqual(Object.fromEntries(flat), devices)
      }
    const asked = await call(key, 'GET', `${base}/${id}?statistics=statsByDevice`)
    assert.deepEqual(Object.keys(asked.body.statistics.statsByDevice).sort(), [
      'desktop',
      'mobile',
      'tablet',
      'unknown',
    ])
    assert.deepEqual(asked.body.statistics.statsByBrowser, {})
  })
})

const Kind = row<{ classification: string }>({ classification: text })

describe('visits of a message’s page', () => {
  test('are counted where the link is a recipient’s, people’s alone unless the account wants all', async () => {
    const { accountId, key } = await shop(['anna'])
    const id = await create(key)
    await put(id, 'sent')
    const messageId = await addMessage({ accountId, id, name: 'anna', status: 'delivered' })
    const needs = { keys, baseUrl: '' }
    const own = mirrorUrl(needs, { accountId, campaignId: String(id), messageId })
    const shared = mirrorUrl(needs, { accountId, campaignId: String(id) })
    const visit = async (path: string, userAgent: string, method = 'GET') => {
      const reply = await app.call(method, path, { key: null, headers: { 'user-agent': userAgent } })
      assert.equal(reply.status, 200)
    }
    const person = `${mac} ${webKit} Version/18.0 Safari/605.1.15`
    await visit(own, person)
    await visit(own, person)
    await visit(own, 'curl/8.5')
    await visit(own, person, 'HEAD')
    await visit(shared, person)
    const clicks = async () => (await call(key, 'GET', `${base}/${id}`)).body.statistics.mirrorClick
    const raw = await db.many(
      Kind,
      sql`select data ->> 'classification' as classification from message_events
           where account_id = ${accountId} and type = 'mirror'`,
    )
    assert.equal(raw.length, 4)
    assert.equal(await clicks(), raw.filter(({ classification }) => classification !== 'robot').length)
    assert.equal(await clicks(), 2)
    await call(key, 'PUT', '/api/v1/settings', { exclude_robot_activity: false })
    assert.equal(await clicks(), 4)
    await call(key, 'PUT', '/api/v1/settings', { click_tracking: false })
    await visit(own, person)
    assert.equal(await clicks(), 4)
    const { statistics } = (await call(key, 'GET', base)).body.campaigns[0]
    assert.deepEqual([statistics.mirrorClick, statistics.globalStats.clickers], [4, 0])
  })
})
