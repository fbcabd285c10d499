import type { Ref } from './campaign-queries.ts'

/** One that cannot be worked on does not keep the others; what was wrong with it is told after them. */
export async function eachCampaign(refs: Ref[], work: (ref: Ref) => Promise<void>): Promise<void> {
  const faults: unknown[] = []
  for (const ref of refs) await work(ref).catch((error) => faults.push(error))
  if (faults.length > 0) throw faults[0]
}
