// Changes of the counts are folded into them in portions, so that no statement is long.
import type { Db } from '../../../kernel/db.ts'
import { foldDomainChanges, foldMessageChanges } from './queries.ts'
import { foldReportChanges } from './report-queries.ts'

const portion = 10_000
const mostPortions = 20

/** Run by one process at a time, in one transaction. What is left over waits for the next turn. */
export async function foldCounts(db: Db): Promise<void> {
  await fold(() => foldMessageChanges(db, portion))
  await fold(() => foldDomainChanges(db, portion))
  await fold(() => foldReportChanges(db, portion))
}

async function fold(foldPortion: () => Promise<{ folded: number }>): Promise<void> {
  for (let n = 0; n < mostPortions; n++) if ((await foldPortion()).folded < portion) return
}
