// One look at a domain: what the upstream and public DNS say of it, asked outside any transaction, then kept in one.
import type { Db } from '../../kernel/db.ts'
import type { Log } from '../../kernel/log.ts'
import type { Dns, Identity } from '../../kernel/ports.ts'
import { within } from '../../kernel/within.ts'
import { keepNotice, raiseNotice, resolveNotice } from '../accounts/notices/notices.ts'
import { applyReadings, isBrokenRecord, judge, nextCheckAt, type Verdict } from './judge.ts'
import { listOwnKeys } from './key-queries.ts'
import { type DomainRow, keyOf, type RecordState, type Subject } from './model.ts'
import { type DomainRef, holdDomain, updateChecked } from './queries.ts'
import { openReader, type Read } from './read-records.ts'
import type { SecretKeys } from './seal-key.ts'
import { settleKeys } from './settle-keys.ts'
import { type SpfSetting, wantedRecords } from './wanted-records.ts'
import { withinLook } from './within-look.ts'

/** What broke, for whoever tells the account of it. */
export type Broken = {
  accountId: string
  domain: string
  status: DomainRow['status']
  records: { role: string; host: string; state: string | null }[]
  at: Date
}

export type DomainNeeds = {
  dns: Dns
  log: Log
  /** Of a transport that signs with keys of its own. */
  identity?: (domain: string) => Promise<Identity>
  spf: SpfSetting
  secretKeys: SecretKeys
  /** Called in the transaction that finds something newly broken. */
  onBroken?: (db: Db, broken: Broken) => Promise<void>
}

export type Looked = { upstream: Identity | null; readings: Map<string, Read>; at: Date }

/** Everything is asked at once; what the upstream newly asks for comes after. */
export async function lookAtDomain(needs: DomainNeeds, subject: Subject, at: Date): Promise<Looked> {
  return withinLook(needs.dns, async (dns) => {
    const read = openReader(dns, subject.domain)
    const asked = askUpstream(needs, subject)
    const isKnown = !needs.identity || subject.upstream !== null
    if (isKnown) await read(wantedRecords(subject, needs.spf))
    const upstream = await asked
    return { upstream, readings: await read(wantedRecords({ ...subject, upstream }, needs.spf)), at }
  })
}

const patienceMs = 5_000

/** What it said last time counts for as long as it cannot be asked. */
async function askUpstream({ identity, log }: DomainNeeds, { domain, upstream }: Subject) {
  if (!identity) return null
  const asked = await within(patienceMs, identity(domain), () => new Error('no answer in time')).catch(
    (error) => {
      log.warn({ err: error, domain }, 'the upstream could not be asked about a domain')
      return upstream
    },
  )
  // Registered once, it is only found from then on.
  const registered = asked?.registered ?? upstream?.registered
  return (
    asked && { ...asked, ready: asked.ready ?? upstream?.ready ?? null, ...(registered && { registered }) }
  )
}

/** In a transaction. Undefined when the domain is gone; of two looks the later one counts. */
export async function keepLook(
  db: Db,
  needs: DomainNeeds,
  ref: DomainRef,
  latest: Looked,
): Promise<DomainRow | undefined> {
  const row = await holdDomain(db, ref)
  if (!row) return undefined
  const looked = row.checked_at && row.checked_at > latest.at ? nothingNew(row.checked_at) : latest
  const judged = { ...row, upstream: needs.identity ? withMark(looked.upstream, row.upstream) : null }
  const apply = (keys: Subject['keys']) =>
    applyReadings(row.records, wantedRecords({ ...judged, keys }, needs.spf), looked)
  const before = await listOwnKeys(db, ref)
  const keys = await settleKeys(db, ref, { keys: before, records: apply(before), at: looked.at })
  const records = apply(keys)
  const verdict = judge(judged, records, looked.at)
  await tellAccount(db, needs, { row: judged, records, verdict, at: looked.at })
  return updateChecked(db, ref, {
    ...verdict,
    records,
    upstream: judged.upstream,
    checkedAt: looked.at,
    nextCheckAt: nextCheckAt(
      { ...row, verdict, records, isRotating: keys.some(({ stage }) => stage === 'next') },
      looked.at,
    ),
  })
}

/** While it was asked, another account may have left it to this one to give the domain up. */
function withMark(latest: Identity | null, known: Identity | null): Identity | null {
  return latest && known?.registered ? { ...latest, registered: true } : (latest ?? known)
}

const nothingNew = (at: Date): Looked => ({ upstream: null, readings: new Map(), at })

type Told = { row: DomainRow; records: RecordState[]; verdict: Verdict; at: Date }

async function tellAccount(db: Db, needs: DomainNeeds, told: Told): Promise<void> {
  const { row, records, verdict, at } = told
  const { account_id: accountId, domain } = row
  const about = { accountId, code: 'domain_broken', subject: domain } as const
  if (!verdict.isBroken) return resolveNotice(db, about, at)
  const details = {
    status: verdict.status,
    records: verdict.broken.map(({ role, host, known }) => ({ role, host, state: known })),
  }
  const isNew = isNewlyBroken(row, records, verdict)
  // What broke after the first has a notice of its own, which takes the place of that: its details name both.
  if (isNew) await resolveNotice(db, about, at)
  // An answer that failed says nothing: what was told before it stands.
  const tell = records.some(({ state }) => state === 'unreadable') ? raiseNotice : keepNotice
  await tell(db, { ...about, message: messageOf(told), details }, at)
  if (isNew) await needs.onBroken?.(db, { accountId, domain, ...details, at })
}

function messageOf({ row: { domain, upstream }, records, verdict }: Told): string {
  const { status, broken } = verdict
  const lost = status === 'verified' ? 'A record of the domain' : 'The authentication of the domain'
  const wrong = broken[0] ?? records.find(({ required, known }) => required && known !== 'ok')
  const why = wrong?.explanation ?? upstream?.says ?? ''
  return `${lost} ${domain} broke. ${why} See GET /api/v1/domains/${domain}/dns for what to publish.`
}

function isNewlyBroken(row: DomainRow, records: RecordState[], { status }: Verdict): boolean {
  const wasBroken = new Set(row.records.filter(isBrokenRecord).map(keyOf))
  const lost = records.some((one) => isBrokenRecord(one) && !wasBroken.has(keyOf(one)))
  return lost || (row.status === 'verified' && status !== 'verified')
}
