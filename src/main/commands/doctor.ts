import type { Command } from 'commander'
import { type Check, runChecks } from '../doctor.ts'
import { type Output, say, sayJson } from './print.ts'

const marks: Record<Check['state'], string> = { ok: 'ok  ', warning: 'warn', failed: 'FAIL' }

export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .description('check configuration, database, transport and DNS, and say what to mend')
    .option('--json', 'print the result as JSON')
    .addHelpText('after', '\nExit code 1 when something has failed.\n\nExample:\n  posthorn doctor --json')
    .action(async ({ json }: Output) => {
      const checks = await runChecks()
      if (json) sayJson({ ok: checks.every(({ state }) => state !== 'failed'), checks })
      else for (const { name, state, detail, mend } of checks) sayCheck({ name, state, detail, mend })
      if (checks.some(({ state }) => state === 'failed')) process.exitCode = 1
    })
}

function sayCheck({ name, state, detail, mend }: Check): void {
  say(`${marks[state]}  ${name.padEnd(14)} ${detail}`)
  if (mend) say(`${' '.repeat(21)}→ ${mend}`)
}
