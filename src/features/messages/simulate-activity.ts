// Opens and clicks of the simulator, judged like any other.
import type { Db } from '../../kernel/db.ts'
import type { DueRow } from './delivery-queries.ts'
import { isRecipientLink } from './recipient-links.ts'
import type { Act } from './simulator.ts'
import { recordActivity, type Visit } from './tracking/record-activity.ts'
import { type Rewriting, rewriteHtml } from './tracking/rewrite.ts'
import { whatIsTracked } from './tracking/track-message.ts'

const person =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36'
// Judged as if it came so long after the delivery: no person is quicker.
const laterMs = 60_000

/** `except`: links that are not tracked, and so never clicked as far as anybody knows. */
type Acted = { act: Act; at: Date; except?: Rewriting['except'] }

export async function actOutActivity(db: Db, due: DueRow, { act, at, except }: Acted): Promise<void> {
  const judgedAt = new Date(at.getTime() + laterMs)
  const visit: Visit = { ip: '127.0.0.1', userAgent: person, method: 'GET', headers: {}, at, judgedAt }
  const { opens, clicks } = whatIsTracked(due)
  const open = async (seen: Visit) => {
    if (opens) await recordActivity(db, { kind: 'open', messageId: due.id }, seen)
  }
  const click = async (seen: Visit) => {
    const url = firstLink(due, except)
    if (clicks) await recordActivity(db, { kind: 'click', messageId: due.id, url }, seen)
  }
  switch (act) {
    case 'open':
      return open(visit)
    case 'click':
      await open(visit)
      return click(visit)
    case 'proxy':
      return open({ ...visit, userAgent: 'Mozilla/5.0' })
    case 'robot': {
      const scanner = { ...visit, userAgent: 'python-requests/2.32', judgedAt: at }
      await open(scanner)
      return click(scanner)
    }
    default:
  }
}

/** Of those that are tracked. The recipient's own, which are put in as it is composed, are not. */
function firstLink({ parts }: DueRow, except: Rewriting['except'] = () => false): string {
  const tracked: string[] = []
  rewriteHtml(parts?.html ?? '', {
    click: (url) => tracked[tracked.push(url) - 1] ?? url,
    except: (url) => isRecipientLink(url) || except(url),
  })
  return tracked[0] ?? 'https://example.com/'
}
