// Tells accounts in time that a key's daily cap or their monthly quota is nearly used, until that is over.
import type { Db } from '../../../kernel/db.ts'
import { showId } from '../../../kernel/id.ts'
import { type Noted, raiseNotice, resolveNotice } from '../notices/notices.ts'
import { listNearCaps, listOpenCapNotices, type NearCap } from './cap-queries.ts'
import { dayOf, monthOf } from './spend-sending.ts'

const code = 'cap_near'
const share = 0.8

type Periods = { day: string; month: string }

export async function noteNearCaps(db: Db, now: Date): Promise<void> {
  const periods = { day: dayOf(now), month: monthOf(now) }
  const near = (await listNearCaps(db, { ...periods, share })).map((one) => noticeOf(one, periods))
  const current = new Set(near.map(nameOf))
  for (const { account_id, subject, details } of await listOpenCapNotices(db)) {
    const about = { accountId: account_id, code, subject, details } as const
    if (!current.has(nameOf(about))) await resolveNotice(db, about, now)
  }
  for (const notice of near) await raiseNotice(db, notice, now)
}

/** One of an earlier day is another one. */
const nameOf = ({ accountId, subject, details }: Pick<Noted, 'accountId' | 'subject' | 'details'>) =>
  `${accountId} ${subject} ${details?.period}`

function noticeOf({ account_id, key_id, key_name, most, sent }: NearCap, { day, month }: Periods): Noted {
  const isKey = key_id !== null
  const used = `${sent} of ${most} messages`
  const message = isKey
    ? `The key ${key_name} has sent ${used} that it may send today (UTC). At the cap its sends are refused until ` +
      'midnight: use a key with a higher cap, or send the rest tomorrow.'
    : `The account has sent ${used} of this month's quota (UTC). At the quota sends are refused until the next ` +
      'month: ask for a higher one, or send the rest then.'
  return {
    accountId: account_id,
    code,
    subject: isKey ? showId('key', key_id) : 'monthly_quota',
    message,
    details: { used: Number(sent), limit: most, period: isKey ? day : month.slice(0, 7) },
  }
}
