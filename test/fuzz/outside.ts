// Bad requests at what answers without a key: pages behind links, pictures, files, reports of providers; and at what
// agents call.

import { unsubscribeKeysOf, writeUnsubscribeToken } from '../../src/features/contacts/unsubscribe/tokens.ts'
import { clickToken, openToken } from '../../src/features/messages/tracking/tokens.ts'
import { optinKeysOf, writeOptinToken } from '../../src/features/transactional/double-optin/tokens.ts'
import { row, text } from '../../src/kernel/row.ts'
import { sql } from '../../src/kernel/sql.ts'
import { openTrackingKeys } from '../../src/main/wire.ts'
import type { App } from '../app.ts'
import { secretKey } from '../contract/contact-examples.ts'
import type { Household } from '../tenants/furnish.ts'
import { until } from '../until.ts'
import type { Dice } from './dice.ts'
import { mutated } from './mutate.ts'
import { oddText } from './odd-values.ts'
import { headersOf, type Shot } from './shot.ts'

export type Door = { path: string; forms?: Record<string, string>; json?: object; key?: string }

/** Where the links lead; anywhere else would be somebody else's choice. */
export const destination = 'https://shop.example/'

const Found = row<{ id: string }>({ id: text })

export async function doorsOf(app: App, household: Household): Promise<Door[]> {
  return [...(await linksOf(app, household)), ...(await filesOf(app, household)), ...machinesOf(household)]
}

/** What stands in mails. */
async function linksOf(app: App, { accountId, ids }: Household): Promise<Door[]> {
  const tracking = await openTrackingKeys(app.pools.db)
  const message = String(ids.uuid)
  const unsubscribe = writeUnsubscribeToken(unsubscribeKeysOf([secretKey]), {
    accountId,
    email: String(ids.email),
    listId: String(ids.listId),
    messageId: message,
  })
  const { id } = await app.pools.db.one(
    Found,
    sql`select id from double_optins where account_id = ${accountId}`,
  )
  const optin = writeOptinToken(optinKeysOf([secretKey]), { accountId, id })
  const choices = {
    shown: String(ids.listId),
    list: String(ids.listId),
    nothing: '1',
    was_nothing: '1',
    undo: '1',
  }
  return [
    { path: `/t/${openToken(tracking, message)}.gif` },
    { path: `/t/${clickToken(tracking, message, destination)}` },
    { path: `/u/${unsubscribe}`, forms: { 'List-Unsubscribe': 'One-Click' } },
    { path: `/u/${unsubscribe}`, forms: choices },
    { path: `/preferences/${unsubscribe}`, forms: choices },
    { path: `/c/${optin}`, forms: choices },
  ]
}

async function filesOf(app: App, { key, ids }: Household): Promise<Door[]> {
  const { body: shared } = await app.call('GET', `/v3/emailCampaigns/${ids.sentId}/sharedUrl`, { key })
  const file = await until(
    async () => (await app.call('GET', `/v3/processes/${ids.exportId}`, { key })).body.export_url,
    'the file of the export',
  )
  return [{ path: new URL(shared.sharedUrl).pathname }, { path: new URL(file).pathname }]
}

function machinesOf({ key }: Household): Door[] {
  return [
    { path: '/hooks/ses', json: notification },
    { path: '/hooks/scaleway', json: notification },
    {
      path: '/mcp',
      json: call('tools/call', { name: 'email_send', arguments: { to: 'anna@example.com' } }),
      key,
    },
    { path: '/mcp', json: call('tools/list', {}), key },
    { path: '/metrics' },
    { path: '/docs/static/index.html' },
  ]
}

const call = (method: string, params: object) => ({ jsonrpc: '2.0', id: 1, method, params })

const notification = {
  Type: 'Notification',
  MessageId: '22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324',
  TopicArn: 'arn:aws:sns:eu-west-1:123456789012:mail',
  Message: JSON.stringify({ eventType: 'Bounce', mail: { messageId: 'x', destination: ['a@example.com'] } }),
  Timestamp: new Date().toISOString(),
  SignatureVersion: '1',
  Signature: 'AAAA',
  SigningCertURL: 'https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0.pem',
}

export function shotAt(door: Door, dice: Dice): Shot {
  const target = pathOf(door.path, dice)
  const hasBody = door.json !== undefined || (door.forms !== undefined && dice.chance(0.7))
  const usual = hasBody ? 'POST' : 'GET'
  const method = dice.chance(0.95) ? usual : dice.pick(['HEAD', 'PUT', 'DELETE', 'OPTIONS', 'POST', 'GET'])
  const headers = headersOf(door.key ?? '', dice)
  if (dice.chance(0.3))
    headers.push([dice.pick(['accept-language', 'user-agent', 'referer']), latin(oddText(dice))])
  if (!hasBody) return { method, target, headers, body: undefined }
  const { type, body } = door.json ? jsonOf(door.json, dice) : formOf(door.forms ?? {}, dice)
  headers.push(['content-type', type])
  if (door.key) headers.push(['accept', 'application/json, text/event-stream'])
  return { method, target, headers, body }
}

// What a header line can carry at all.
const latin = (text: string) => text.slice(0, 500).replaceAll(/[^\x20-\x7e\x80-\xff]/g, '?')

function pathOf(path: string, dice: Dice): string {
  if (dice.chance(0.45)) return path
  const at = 1 + dice.below(path.length - 1)
  const kind = dice.below(5)
  if (kind === 0) return path.slice(0, at)
  if (kind === 1)
    return path.slice(0, at) + dice.pick(['A', '%', '%00', '.', '%2f', '=', '<']) + path.slice(at + 1)
  if (kind === 2)
    return path + dice.pick(['?x=1', '/', '//', '/..', '?token=x', '%0d%0aset-cookie:a=b', '#x', '.gif'])
  const first = path.slice(0, path.indexOf('/', 1) + 1)
  return first + encodeURIComponent(oddText(dice).slice(0, 5_000).toWellFormed())
}

function jsonOf(json: object, dice: Dice): { type: string; body: Buffer } {
  const type = dice.chance(0.9)
    ? 'application/json'
    : dice.pick(['text/plain; charset=UTF-8', 'x', 'text/html'])
  const wrapped = dice.chance(0.05) ? [json, json] : json
  const body = JSON.stringify(mutated(wrapped, dice.below(4), dice)) ?? ''
  return { type, body: Buffer.from(dice.chance(0.05) ? body.slice(0, dice.below(body.length + 1)) : body) }
}

const boundary = 'fuzz'

function formOf(forms: Record<string, string>, dice: Dice): { type: string; body: Buffer } {
  const chosen = Object.entries(forms).filter(() => dice.chance(0.6))
  const fields = chosen.map(([name, value]): [string, string] => [
    name,
    dice.chance(0.4) ? oddText(dice) : value,
  ])
  const kind = dice.below(4)
  if (kind === 0) return { type: 'text/plain', body: Buffer.from(oddText(dice)) }
  if (kind > 1)
    return {
      type: 'application/x-www-form-urlencoded',
      body: Buffer.from(new URLSearchParams(fields).toString()),
    }
  const parts = fields.map(
    ([name, value]) => `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${value}`,
  )
  const end = dice.chance(0.7) ? `\r\n--${boundary}--\r\n` : ''
  return { type: `multipart/form-data; boundary=${boundary}`, body: Buffer.from(parts.join('\r\n') + end) }
}
