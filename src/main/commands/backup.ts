import type { Stats } from 'node:fs'
import { access, constants, realpath, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import type { Command } from 'commander'
import { isBackup } from '../backup/is-backup.ts'
import { inWords } from '../backup/own-names.ts'
import { restoreBackup } from '../backup/restore-backup.ts'
import type { Waiting } from '../backup/waiting-queries.ts'
import { writeBackup } from '../backup/write-backup.ts'
import { readConfig } from '../config.ts'
import { openDatabase } from '../database.ts'
import { CommandFault, type Output, say, sayJson } from './print.ts'
import { refuseMissingDatabase } from './with-database.ts'

export function addBackup(program: Command): void {
  program
    .command('backup <file>')
    .description('write database, media and secrets into one file, while the service runs')
    .option('--json', 'print the result as JSON')
    .addHelpText(
      'after',
      `
The file holds keys and everything about your contacts; only its owner can read it.
A backup of that name is replaced, anything else is not. Media kept in S3 are not in it.

Example:
  posthorn backup /backups/posthorn-$(date +%F).tar.gz`,
    )
    .action(async (file: string, { json }: Output) => {
      const target = await targetOf(file)
      refuseMissingDatabase(readConfig())
      const written = await withUrl((url, config) =>
        writeBackup({ url, config, file: target, now: new Date(), progress }),
      )
      if (json) return sayJson({ file, ...snake(written) })
      say(`${file}: ${written.rows} rows of ${written.tables} tables, ${written.media} media files.`)
      if (written.leftOut.length > 0)
        say(`Not in it, because Posthorn did not make it: ${inWords(written.leftOut)}.`)
      if (!written.secretKeyIncluded)
        say('The secret key is not in it: what is sealed opens only with POSTHORN_SECRET_KEY. Keep that too.')
    })
}

export function addRestore(program: Command): void {
  program
    .command('restore <file>')
    .description('bring a backup back into an empty database and data folder, while the service is stopped')
    .option('--force', 'replace what the database and the data folder hold')
    .option('--pause', 'keep back what was waiting to be sent, since it may have left after the backup')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', '\nExample:\n  posthorn restore /backups/posthorn-2026-11-15.tar.gz --pause')
    .action(async (file: string, { json, ...asked }: Output & { force?: true; pause?: true }) => {
      await refuseBadSource(file)
      const [force, pause] = [asked.force === true, asked.pause === true]
      const restored = await withUrl((url, config) =>
        restoreBackup({ url, config, file: resolve(file), force, pause, now: new Date(), progress }),
      )
      if (json) return sayJson({ file, ...snake(restored) })
      const { rows, tables, media, createdAt, migrated, leftAlone, waiting, keptBack } = restored
      say(`Restored ${rows} rows of ${tables} tables and ${media} media files, as of ${createdAt}.`)
      if (migrated.length > 0) say(`Migrated: ${migrated.join(', ')}`)
      if (leftAlone.length > 0)
        say(`Left as it was, because Posthorn did not make it: ${inWords(leftAlone)}.`)
      sayWaiting(waiting, keptBack)
    })
}

function sayWaiting(waiting: Waiting, isKeptBack: boolean): void {
  const some = Object.entries(waiting).filter(([, count]) => count > 0)
  if (some.length === 0) return
  const list = some.map(([name, count]) => `${count} ${name}`).join(', ')
  say(
    isKeptBack
      ? `Kept back, since it may have left after the backup was made: ${list}. Campaigns, automations and sequences ` +
          'are paused until you resume them; messages, SMS, answers and reminders of carts are not sent any more.'
      : `Waiting to be sent: ${list}. The next start sends it, also what has left since the backup was made; ` +
          'to prevent that, restore again with --force --pause before you start.',
  )
}

/**
 * Where the backup goes, refused in words before anything is opened. Its last step replaces what has that name: a link
 * is followed, and a device or pipe would be gone.
 */
async function targetOf(file: string): Promise<string> {
  if (file === '' || file === '-') throw new CommandFault('a backup is written into a file: name one', 2)
  const target = await realpath(file).catch(() => resolve(file))
  const folder = dirname(target)
  const isWritable = await access(folder, constants.W_OK).then(
    () => true,
    () => false,
  )
  if (!isWritable)
    throw new CommandFault(
      `${file} cannot be written: there is no folder ${folder} that this user may write to`,
    )
  const there = await found(target)
  if (there?.isDirectory()) throw new CommandFault(`${file} cannot be written: it is a folder`)
  if (there && !there.isFile()) throw new CommandFault(`${file} cannot be written: it is not a plain file`)
  if (there && there.size > 0 && !(await isBackup(target)))
    throw new CommandFault(
      `${file} is not replaced: it holds something that is not a backup of Posthorn; name another file`,
    )
  return target
}

async function refuseBadSource(file: string): Promise<void> {
  const there = await found(file)
  if (!there) throw new CommandFault(`${file} cannot be read: there is no such file`)
  if (there.isDirectory()) throw new CommandFault(`${file} cannot be read: it is a folder`)
  await access(file, constants.R_OK).catch(() => {
    throw new CommandFault(`${file} cannot be read: this user may not`)
  })
}

const found = (file: string): Promise<Stats | undefined> => stat(file).catch(() => undefined)

async function withUrl<T>(
  work: (url: string, config: ReturnType<typeof readConfig>) => Promise<T>,
): Promise<T> {
  const config = readConfig()
  const database = await openDatabase(config, 'command')
  try {
    return await work(database.url, config)
  } finally {
    if (process.stderr.isTTY) process.stderr.write('\r\x1b[K')
    await database.close()
  }
}

/** One line on a terminal, written over again. */
function progress(line: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\x1b[K${line}`)
}

function snake(record: object): object {
  const words = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  return Object.fromEntries(Object.entries(record).map(([name, value]) => [words(name), value]))
}
