import { type Sql, sql } from '../../../kernel/sql.ts'

/**
 * Of mailboxes m: whether somebody watches it now and has read all that came before. While it is not so, whoever was
 * written to may have answered and nobody knows.
 */
export const isRead = (now: Date): Sql => sql`
  exists (select 1
            from outreach_watches w
           where w.account_id = m.account_id
             and w.mailbox_id = m.id
             and w.held_until >= ${now}
             and w.read_at is not null)`
