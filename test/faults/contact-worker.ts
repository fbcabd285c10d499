// The workers of contact imports and exports alone, on the database that is named, until the process is killed.
import { setTimeout as pause } from 'node:timers/promises'
import { workExports } from '../../src/features/contacts/export/work-exports.ts'
import { workImports } from '../../src/features/contacts/import/work-imports.ts'
import { silentLog } from '../../src/kernel/log.ts'
import { exportReaders } from '../../src/main/contact-jobs.ts'
import { openPools } from '../../src/main/wire.ts'

const { db } = openPools({ url: process.argv[2] ?? '', log: silentLog, strict: true })
const fetchFile = async () => {
  throw new Error('no file is asked for here')
}
const needs = { db, log: silentLog, fetchFile, notify: async () => {}, readers: exportReaders }
process.stdout.write('ready\n')
for (;;) {
  const now = new Date()
  await workImports(needs, now)
  await workExports(needs, now)
  await pause(20)
}
