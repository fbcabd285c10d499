import type { Command } from 'commander'
import { type Config, readConfig, settingsHelp } from '../config.ts'
import { type Role, type Running, roles, start } from '../start.ts'
import { CommandFault, say, sayJson } from './print.ts'

export function addStart(program: Command): void {
  program
    .command('start')
    .description('start the service')
    .option('--role <roles>', `parts to run, with commas between: ${roles.join(', ')}`, roles.join(','))
    .option('--json', 'print the start-up report as JSON')
    .addHelpText(
      'after',
      `
${settingsHelp()}

Examples:
  posthorn start                                    everything, on an embedded PostgreSQL in ./data
  DATABASE_URL=postgres://… posthorn start --role api     one of many processes on one database`,
    )
    .action(async ({ role, json }: { role: string; json?: true }) => {
      const options = { config: readConfig(), roles: readRoles(role) }
      const starting = start(options)
      stopOnSignals(starting)
      const running = await starting
      const { url = null, smtp = null, madeKey: key, database } = running
      if (json) sayJson({ url, smtp, key, database })
      else say(banner(running, options.config))
    })
}

function readRoles(given: string): Role[] {
  const names = given.split(',').map((name) => name.trim())
  const unknown = names.find((name) => !roles.some((role) => role === name))
  if (unknown === undefined) return names as Role[]
  throw new CommandFault(`there is no role ${JSON.stringify(unknown)}; known: ${roles.join(', ')}`, 2)
}

function banner({ url, smtp, madeKey, database }: Running, { apiKey, smtpsPort }: Config): string {
  const lines = ['', 'Posthorn is ready.', '']
  if (url) lines.push(`  API       ${url}/api/v1`, `  Docs      ${url}/docs`)
  if (smtp) lines.push(`  SMTP      ${smtp} (user apikey, password your key)`)
  if (smtp && smtpsPort)
    lines.push(`  SMTPS     ${smtp.replace(/\d+$/, String(smtpsPort))} (TLS from the start)`)
  lines.push(`  Database  ${database}`)
  if (madeKey) lines.push(`  Key       ${madeKey}`, '', '  The key is shown only now. Keep it.')
  else if (apiKey === undefined) lines.push('  Key       made before; for another one: posthorn key create')
  if (madeKey && url) lines.push('', '  Try it:', `  curl -H 'api-key: ${madeKey}' ${url}/api/v1/usage`)
  return [...lines, ''].join('\n')
}

const patienceMs = 9_000
// One Ctrl-C can come twice, from the terminal and from npm, which passes it on.
const sameSignalMs = 1_000

/** Also while starting: what has been opened by then is closed again. */
function stopOnSignals(starting: Promise<Running>): void {
  let askedAt: number | undefined
  const stop = () => {
    if (askedAt !== undefined && performance.now() - askedAt < sameSignalMs) return
    if (askedAt !== undefined) process.exit(1)
    askedAt = performance.now()
    // What is still under way after that is left to the next start; nothing accepted is lost by it.
    setTimeout(() => process.exit(0), patienceMs).unref()
    starting
      .then((running) => running.stop())
      .then(() => process.exit(0))
      .catch(() => process.exit(1))
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  // The terminal was closed: the embedded database must not stay behind without its service.
  process.on('SIGHUP', stop)
}
