// The plan of a week for one account, a few times over, and the most memory that it took:
// planner.ts DATABASE_URL ACCOUNT_ID. Says kilobytes.
import { planAccount } from '../../src/features/outreach/planning/plan-account.ts'
import { openPool } from '../../src/kernel/db.ts'
import { keepHeapSmall } from '../../src/main/heap.ts'

const [url = '', accountId = ''] = process.argv.slice(2)
keepHeapSmall()
const rounds = 5
const aheadMs = 7 * 86_400_000
const db = openPool({ url, max: 2, name: 'planner', durable: true, checkRows: false, onError: () => {} })
for (let round = 0; round < rounds; round++) await planAccount(db, accountId, { now: new Date(), aheadMs })
await db.close()
process.stdout.write(`${process.resourceUsage().maxRSS}\n`)
