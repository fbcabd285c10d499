import type { Deadline } from './deadline.ts'
import { codeOf } from './failure.ts'
import type { Session } from './session.ts'

// "Post" as a number. The first lock belongs to the one Posthorn that owns the server; the second is shared by
// everybody connected, so that a command which started the server does not stop it under another.
const owner = '1349481332, 1'
const users = '1349481332, 2'

const isTrue = async (session: Session, call: string) => {
  const [row] = await session.query<{ done: boolean }>(`select ${call} as done`)
  return row?.done === true
}

export const shareServer = async (session: Session, deadline: Deadline) => {
  const ms = Math.ceil(deadline.left()) + 1
  await session.query("select set_config('lock_timeout', $1, false)", [`${ms}ms`])
  await session.query(`select pg_advisory_lock_shared(${users})`)
}

export const tryOwn = (session: Session) => isTrue(session, `pg_try_advisory_lock(${owner})`)

/** Waits in line: false when the lock was not free within the time. */
export const waitToOwn = async (session: Session): Promise<boolean> => {
  try {
    await session.query(`select pg_advisory_lock(${owner})`)
    return true
  } catch (error) {
    if (codeOf(error) === '55P03') return false
    throw error
  }
}

/** The process number in the name that the owner gave its session. */
export const findOwnerProcess = async (session: Session): Promise<string> => {
  const rows = await session.query<{ name: string }>(
    `select a.application_name as name from pg_locks l join pg_stat_activity a on a.pid = l.pid
     where l.locktype = 'advisory' and (l.classid, l.objid) = (${owner}) and l.objsubid = 2 and l.granted`,
  )
  return rows[0]?.name.replace(/^posthorn /, '') ?? 'unknown'
}

/**
 * Whether a leaving command is the one to stop the server: nobody owns it and nobody else uses it. Of two that
 * leave at once each first gives up its share and then looks at ownership, so at least one sees the other gone.
 */
export const isLastUser = async (session: Session, owns: boolean): Promise<boolean> => {
  await isTrue(session, `pg_advisory_unlock_shared(${users})`)
  let owning = owns
  for (let round = 0; round < 10; round += 1) {
    if (!owning && !(await tryOwn(session))) return false
    if (await isTrue(session, `pg_try_advisory_lock(${users})`)) return true
    await isTrue(session, `pg_advisory_unlock(${owner})`)
    owning = false
    if (!(await isTrue(session, `pg_try_advisory_lock(${users})`))) return false
    await isTrue(session, `pg_advisory_unlock(${users})`)
  }
  return false
}
