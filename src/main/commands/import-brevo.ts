import type { Command } from 'commander'
import { readConfig } from '../config.ts'
import { openSecretKeys } from '../secret-key.ts'
import { targetCheck } from '../webhooks.ts'
import { accountOf } from './key.ts'
import { type Output, say, sayJson, table } from './print.ts'
import { progressOn } from './progress.ts'
import { readGiven } from './read-options.ts'
import { withDatabase } from './with-database.ts'

export function addImportBrevo(program: Command): void {
  program
    .command('import-brevo')
    .description(
      'copy an account of Brevo: folders, lists, attributes, contacts, templates, senders, webhooks',
    )
    .requiredOption('--key <key>', 'an API key of the account to copy', readGiven)
    .option('--from <url>', 'where its interface is', 'https://api.brevo.com/v3')
    .option('--account <id>', 'whom to copy to; the first account when absent')
    .option('--dry-run', 'say what would be copied and copy nothing')
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      `
A run that was stopped goes on where it was when it is called again, and copies nothing twice. Lists and templates get
new numbers; --json shows which. Nobody is written to.

Example:
  posthorn import-brevo --key xkeysib-… --dry-run`,
    )
    .action(importBrevo)
}

type Options = Output & { key: string; from: string; account?: string; dryRun?: true }

async function importBrevo({ key, from, account, dryRun, json }: Options): Promise<void> {
  // Loaded only here: no other command needs an HTTP client.
  const { copiedIds, copyAll, countIncomplete, nameOf, survey } = await import('../import-brevo/copy.ts')
  const { openSource } = await import('../import-brevo/source.ts')
  const progress = progressOn(process.stderr)
  const source = openSource({ url: from, key, note: progress.note })
  const config = readConfig()
  const webhooks = { secretKeys: openSecretKeys(config), checkTarget: targetCheck(config) }
  await withDatabase(async (db) => {
    const accountId = await accountOf(db, account)
    const name = await nameOf(source, from)
    const examples = new Set<string>()
    const onIncomplete = (text: string) => void (examples.size < mostExamples && examples.add(text))
    const copy = { db, source, name, accountId, webhooks, now: () => new Date(), onIncomplete, ...progress }
    const counts = dryRun ? await survey(copy) : await copyAll(copy)
    progress.end()
    const kinds = Object.entries(counts)
    const incomplete = { contacts: await countIncomplete(copy), examples: [...examples] }
    const ids = await copiedIds(copy)
    if (json) return sayJson({ account: accountId, dry_run: dryRun === true, counts, incomplete, ids })
    const rows = kinds.map(([kind, { found, copied, skipped }]) => [kind, found, copied, skipped])
    say(table(['WHAT', 'FOUND', 'COPIED', 'LEFT OUT'], rows))
    sayIncomplete(incomplete)
  })
}

const mostExamples = 3

function sayIncomplete({ contacts, examples }: { contacts: number; examples: string[] }): void {
  if (contacts === 0) return
  const first = examples.map((one) => `\n  ${one}`).join('')
  say(
    `${contacts} of the contacts copied lack a value that does not fit here${first && `, such as:${first}`}`,
  )
}
