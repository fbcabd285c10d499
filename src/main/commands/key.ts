import type { Command } from 'commander'
import { findFirstAccount } from '../../features/accounts/account/queries.ts'
import { makeKey } from '../../features/accounts/keys/make-key.ts'
import { type ListedKey, listKeys, revokeKey } from '../../features/accounts/keys/queries.ts'
import type { Db } from '../../kernel/db.ts'
import { showId } from '../../kernel/id.ts'
import { type Scope, scopeNames } from '../../kernel/scope.ts'
import { refuseUnknownAccount } from './account.ts'
import { activeKey } from './active-key.ts'
import { addKeyChange } from './change-key.ts'
import { CommandFault, type Output, say, sayJson, table } from './print.ts'
import { readCount, readDomains, readExpiry, readKeyName, readScopes } from './read-options.ts'
import { withDatabase } from './with-database.ts'

export function addKey(program: Command): void {
  const key = program.command('key').description('make, list, change and revoke keys')

  key
    .command('create')
    .description('make a key and print it, alone on the last line')
    .option('--account <id>', 'whose key; the first account’s when absent')
    .option('--name <name>', 'what to call it', readKeyName, 'key')
    .option('--scope <scopes>', 'what it may do; everything when absent', readScopes)
    .option('--daily-cap <n>', 'messages per day (UTC); no cap when absent', readCount)
    .option('--sender-domain <domains>', 'domains it may send from; any when absent', readDomains)
    .option('--expires <time>', 'ISO 8601 time at which it stops working', readExpiry)
    .option('--test', 'a test key: its messages never leave the machine')
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      `
Scopes:
  ${scopeNames.join('\n  ')}

Two operations send mail without email.send: asking a person to confirm their subscription
(POST /v3/contacts/doubleOptinConfirmation, contacts.write) and the code that proves a sender
(POST /v3/senders, PUT /v3/senders/{id}, domain.write). The code is mailed for a test key too.

Example:
  posthorn key create --name shop --scope email.send,email.read_status --daily-cap 5000`,
    )
    .action(createKey)

  key
    .command('list')
    .description('list keys')
    .option('--account <id>', 'only this account’s')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', '\nExample:\n  posthorn key list --account 1')
    .action(showKeys)

  addRevoke(key)
  addKeyChange(key)
}

function addRevoke(key: Command): void {
  key
    .command('revoke <key>')
    .description(
      'end a key, named by its id, by its first characters as the list shows them, or by the whole of it',
    )
    .option('--json', 'print the result as JSON')
    .addHelpText('after', '\nExample:\n  posthorn key revoke phk_live_Ab3d')
    .action(endKey)
}

type CreateOptions = Output & {
  account?: string
  name: string
  scope?: Scope[]
  dailyCap?: number
  senderDomain?: string[]
  expires?: Date
  test?: true
}

async function createKey(options: CreateOptions): Promise<void> {
  const made = await withDatabase(async (db) => {
    const account = await accountOf(db, options.account)
    const key = await makeKey(db, account, {
      name: options.name,
      mode: options.test ? 'test' : 'live',
      scopes: options.scope ?? null,
      dailyCap: options.dailyCap ?? null,
      senderDomains: options.senderDomain ?? null,
      expiresAt: options.expires ?? null,
    })
    return { account, ...key }
  })
  const id = showId('key', made.id)
  if (options.json) sayJson({ id, account: made.account, prefix: made.prefix, key: made.key })
  else say(`Key ${id} of account ${made.account}, shown only now:\n${made.key}`)
}

export async function accountOf(db: Db, given: string | undefined): Promise<string> {
  if (given !== undefined) {
    await refuseUnknownAccount(db, given)
    return given
  }
  const first = await findFirstAccount(db)
  if (first) return first.id
  throw new CommandFault(
    'there is no account yet; start the service once, or run: posthorn account create NAME',
  )
}

async function showKeys({ account, json }: Output & { account?: string }): Promise<void> {
  const keys = await withDatabase(async (db) => {
    if (account !== undefined) await refuseUnknownAccount(db, account)
    return listKeys(db, account)
  })
  if (json) return sayJson(keys.map((key) => ({ ...key, id: showId('key', key.id) })))
  const rows = keys.map((key) => [
    showId('key', key.id),
    key.account_id,
    key.name,
    `${key.prefix}…`,
    key.scopes?.join(',') ?? 'all',
    key.daily_cap,
    key.sender_domains?.join(',') ?? 'any',
    stateOf(key, new Date()),
  ])
  say(table(['ID', 'ACCOUNT', 'NAME', 'KEY', 'SCOPES', 'DAILY CAP', 'SENDER DOMAINS', 'STATE'], rows))
}

function stateOf(key: ListedKey, now: Date): string {
  if (key.revoked_at) return 'revoked'
  if (!key.expires_at) return 'active'
  return `${key.expires_at > now ? 'until' : 'expired'} ${key.expires_at.toISOString()}`
}

async function endKey(named: string, { json }: Output): Promise<void> {
  const revoked = await withDatabase(async (db) => {
    const { id } = await activeKey(db, named)
    await revokeKey(db, id)
    return showId('key', id)
  })
  if (json) sayJson({ revoked })
  else say(`Revoked ${revoked}. It stops working within a few seconds.`)
}
