import { randomUUID } from 'node:crypto'
import type { Command } from 'commander'
import {
  deleteLimit,
  insertAccount,
  listAccounts,
  renameAccount,
  setMonthlyQuota,
  upsertLimit,
} from '../../features/accounts/account/queries.ts'
import { makeKey, unrestricted } from '../../features/accounts/keys/make-key.ts'
import { type Db, isUniqueViolation } from '../../kernel/db.ts'
import { meantOperation } from '../../kernel/operation.ts'
import { oneLine } from '../../kernel/v3/lenient.ts'
import { knownOperationIds } from '../operations.ts'
import { CommandFault, type Output, say, sayJson, table } from './print.ts'
import { none, type OrNone, orNone, readCount, readGiven } from './read-options.ts'
import { withDatabase } from './with-database.ts'

export function addAccount(program: Command): void {
  const account = program.command('account').description('make, name, list and limit accounts')

  account
    .command('create [name]')
    .description('make an account and its first key; without a name it is called after its number')
    .option('--name <name>', 'the name, said in another way', readGiven)
    .option('--outreach', 'switch the outreach module on')
    .option('--monthly-quota <n>', 'messages per month; unlimited when absent', readCount)
    .option('--json', 'print the result as JSON')
    .addHelpText('after', '\nExample:\n  posthorn account create shop --monthly-quota 50000')
    .action(createAccount)

  account
    .command('list')
    .description('list all accounts')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', '\nExample:\n  posthorn account list --json')
    .action(showAccounts)

  account
    .command('rename')
    .description('change the name of an account, which people see on its unsubscribe pages')
    .argument('<account>', 'its number, as the list shows it')
    .argument('<name>', 'such as the name of the company')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', '\nExample:\n  posthorn account rename 1 "Atelier Horn"')
    .action(nameAccount)

  addLimit(account)
  addQuota(account)
}

function addLimit(account: Command): void {
  account
    .command('limit')
    .description('set how many requests per minute an account may make of one operation')
    .argument('<account>', 'its number, as the list shows it')
    .argument('<operation>', 'such as email.send or v3.email.send; GET /openapi.json names all')
    .argument(
      '<per-minute>',
      'how many; 0 closes the operation, default takes the limit back',
      orNone(readCount, 'default'),
    )
    .option('--json', 'print the result as JSON')
    .addHelpText('after', '\nExample:\n  posthorn account limit 1 settings.get 1200')
    .action(limitAccount)
}

function addQuota(account: Command): void {
  account
    .command('quota')
    .description('set how many messages an account may send a month (UTC)')
    .argument('<account>', 'its number, as the list shows it')
    .argument('<per-month>', 'how many, or none for no quota', orNone(readCount))
    .option('--json', 'print the result as JSON')
    .addHelpText('after', '\nExample:\n  posthorn account quota 1 50000')
    .action(setQuota)
}

type CreateOptions = Output & { name?: string; outreach?: true; monthlyQuota?: number }

async function createAccount(argument: string | undefined, options: CreateOptions): Promise<void> {
  const { json, outreach, monthlyQuota } = options
  if (argument !== undefined && options.name !== undefined)
    throw new CommandFault('the name is given twice', 2)
  const given = argument ?? options.name
  const name = given === undefined ? undefined : readName(given)
  const made = await withDatabase(
    (db) =>
      db.transaction(async (tx) => {
        const { id } = await insertAccount(tx, {
          name: name ?? randomUUID(),
          outreach: outreach === true,
          monthlyQuota: monthlyQuota ?? null,
        })
        // Its number is known only now.
        if (name === undefined) await renameAccount(tx, id, `account ${id}`)
        const { key } = await makeKey(tx, id, unrestricted)
        return { id, key }
      }),
    { beFirst: true },
  ).catch(refuseTakenName(name ?? 'account and its number'))
  if (json) sayJson({ account: made.id, key: made.key })
  else say(`Account ${made.id} made. Its first key, shown only now:\n${made.key}`)
}

const refuseTakenName = (name: string) => (error: unknown) => {
  if (!isUniqueViolation(error, 'accounts_name_idx')) throw error
  throw new CommandFault(`there is an account named ${JSON.stringify(name)} already`)
}

function readName(given: string): string {
  const name = oneLine(given)
  if (name === '') throw new CommandFault('an account needs a name', 2)
  return name
}

async function nameAccount(account: string, given: string, { json }: Output): Promise<void> {
  const name = readName(given)
  await withDatabase(async (db) => {
    await refuseUnknownAccount(db, account)
    await renameAccount(db, account, name)
  }).catch(refuseTakenName(name))
  if (json) sayJson({ account, name })
  else say(`Account ${account} is now called ${name}.`)
}

async function showAccounts({ json }: Output): Promise<void> {
  const accounts = await withDatabase((db) => listAccounts(db))
  if (json) return sayJson(accounts)
  const rows = accounts.map((one) => [
    one.id,
    one.name,
    one.outreach_enabled ? 'on' : 'off',
    one.monthly_quota,
    one.created_at.toISOString(),
  ])
  say(table(['ID', 'NAME', 'OUTREACH', 'MONTHLY QUOTA', 'CREATED'], rows))
}

async function limitAccount(
  account: string,
  operation: string,
  limit: OrNone<number>,
  { json }: Output,
): Promise<void> {
  refuseUnknownOperation(operation)
  await withDatabase(async (db) => {
    await refuseUnknownAccount(db, account)
    if (limit === none) await deleteLimit(db, account, operation)
    else await upsertLimit(db, account, operation, limit)
  })
  if (json) return sayJson({ account, operation, per_minute: limit === none ? null : limit })
  const often = limit === none ? 'as often as any account' : `${limit} times a minute`
  say(`Account ${account} may call ${operation} ${often}.`)
}

async function setQuota(account: string, given: OrNone<number>, { json }: Output): Promise<void> {
  const quota = given === none ? null : given
  await withDatabase(async (db) => {
    await refuseUnknownAccount(db, account)
    await setMonthlyQuota(db, account, quota)
  })
  if (json) sayJson({ account, monthly_quota: quota })
  else
    say(
      `Account ${account} ${quota === null ? 'has no monthly quota' : `may send ${quota} messages a month`}.`,
    )
}

export async function refuseUnknownAccount(db: Db, account: string): Promise<void> {
  if (/^\d{1,18}$/.test(account) && (await listAccounts(db, account)).length > 0) return
  throw new CommandFault(`there is no account ${JSON.stringify(account)}; see: posthorn account list`)
}

function refuseUnknownOperation(operation: string): void {
  const known = knownOperationIds()
  if (known.includes(operation)) return
  const meant = meantOperation(operation, known)
  throw new CommandFault(
    `there is no operation ${JSON.stringify(operation)}${meant ? `; did you mean ${meant}?` : ''}`,
  )
}
