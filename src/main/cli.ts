import { Command, CommanderError } from 'commander'
import { addAccount } from './commands/account.ts'
import { addBackup, addRestore } from './commands/backup.ts'
import { addDoctor } from './commands/doctor.ts'
import { addImportBrevo } from './commands/import-brevo.ts'
import { addKey } from './commands/key.ts'
import { addMigrate } from './commands/migrate.ts'
import { CommandFault } from './commands/print.ts'
import { addStart } from './commands/start.ts'
import { packageVersion } from './package-root.ts'

export async function main(argv: string[]): Promise<void> {
  const program = new Command('posthorn')
    .description('An email delivery service that runs on your own machine.')
    .version(packageVersion())
    .showSuggestionAfterError()
    .helpCommand(false)
    .configureOutput({ outputError: (text, write) => write(`posthorn: ${oneLine(text)}\n`) })
    .addHelpText(
      'after',
      `
Examples:
  posthorn start                     start the service; the first start prints a key
  posthorn key create --name shop    make another key
  posthorn start --help              every setting of the service`,
    )
    .exitOverride()
  const all = [addStart, addMigrate, addAccount, addKey, addImportBrevo, addBackup, addRestore, addDoctor]
  for (const add of all) add(program)
  inherit(program)
  try {
    await program.parseAsync(argv)
  } catch (error) {
    fail(error)
  }
}

function inherit(command: Command): void {
  for (const child of command.commands) {
    child.copyInheritedSettings(command).helpCommand(false)
    inherit(child)
  }
}

/** The suggestion comes on a line of its own, which a log would tear off. */
function oneLine(text: string): string {
  const line = text
    .replace(/^error: /, '')
    .trim()
    .replaceAll(/\s*\n\s*/g, ' ')
  return /^unknown command [^(]*$/.test(line) ? `${line}; see: posthorn --help` : line
}

/** 0 done · 1 could not be done · 2 wrongly called. */
function fail(error: unknown): void {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : 2
    return
  }
  const exitCode = error instanceof CommandFault ? error.exitCode : 1
  for (const line of linesOf(error)) process.stderr.write(`posthorn: ${line}\n`)
  process.exit(exitCode)
}

function linesOf(error: unknown): string[] {
  const found = error instanceof AggregateError ? error.errors[0] : error
  const message = found instanceof Error ? found.message || found.name : String(found)
  return message.split('\n').filter((line) => line.trim() !== '')
}
