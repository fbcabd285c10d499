import type { Command } from 'commander'
import { readConfig } from '../config.ts'
import { migrateOpened, openDatabase } from '../database.ts'
import { complain, type Output, say, sayJson } from './print.ts'

export function addMigrate(program: Command): void {
  program
    .command('migrate')
    .description('bring the database up to date; the service does it by itself at every start')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', '\nExample:\n  DATABASE_URL=postgres://… posthorn migrate')
    .action(async ({ json }: Output) => {
      const database = await openDatabase(readConfig(), 'command')
      try {
        const { applied, total } = await migrateOpened(database, complain)
        if (json) sayJson({ applied, total })
        else if (applied.length === 0) say(`Nothing to do: all ${total} migrations are in place.`)
        else say(`Applied ${applied.length} of ${total}: ${applied.join(', ')}`)
      } finally {
        await database.close()
      }
    })
}
