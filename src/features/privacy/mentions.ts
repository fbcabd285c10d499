// A person whom messages to others name.
import type { Db } from '../../kernel/db.ts'
import {
  dropCaptured,
  eraseDefaultSender,
  eraseFromBodies,
  eraseFromRelayed,
  eraseFromRows,
  findMentions,
} from './mention-queries.ts'
import type { Person } from './person.ts'

// There may be more messages than one statement can go through in its time.
const messagesAtOnce = 5_000

export async function eraseMentions(db: Db, who: Person): Promise<void> {
  await eraseDefaultSender(db, who)
  for (let after: string | undefined | null; after !== null; ) {
    const { last, ids } = await findMentions(db, who, { after, limit: messagesAtOnce })
    if (ids.length > 0) {
      await eraseFromRows(db, { who, ids })
      await eraseFromBodies(db, { who, ids })
      await dropCaptured(db, { who, ids })
    }
    after = last
  }
  await eraseFromRelayed(db, who)
}
