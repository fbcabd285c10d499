// The columns of a contact as every statement that gives contacts reads them.
import { bool, json, maybe, row, text, texts, time } from '../../../kernel/row.ts'
import { sql } from '../../../kernel/sql.ts'
import type { Value } from '../attributes/values.ts'

export type ContactStatus = 'subscribed' | 'unsubscribed'

export type ContactRow = {
  id: string
  email: string | null
  ext_id: string | null
  sms: string | null
  status: ContactStatus
  sms_blacklisted: boolean
  attributes: Record<string, Value>
  tags: string[]
  consent_date: Date | null
  consent_source: string | null
  consent_ip: string | null
  consent_text: string | null
  tracking_consent: boolean | null
  created_at: Date
  modified_at: Date
  list_ids: string[]
  left_list_ids: string[]
  is_suppressed: boolean
}

/** Gets no mail: left, or is on the suppression list for whatever reason. */
export const isBlacklisted = ({ status, is_suppressed }: ContactRow) =>
  status === 'unsubscribed' || is_suppressed

export const ContactShape = row<ContactRow>({
  id: text,
  email: maybe(text),
  ext_id: maybe(text),
  sms: maybe(text),
  status: json(),
  sms_blacklisted: bool,
  attributes: json(),
  tags: texts,
  consent_date: maybe(time),
  consent_source: maybe(text),
  consent_ip: maybe(text),
  consent_text: maybe(text),
  tracking_consent: maybe(bool),
  created_at: time,
  modified_at: time,
  list_ids: texts,
  left_list_ids: texts,
  is_suppressed: bool,
})

/**
 * Whether the address of c is on the suppression list, also as that of an erased person. Single values and not exists:
 * the planner would rather read the whole list than look up the few contacts of a page.
 */
export const isSuppressed = sql`
  coalesce((select true from suppressions s where s.account_id = c.account_id and s.email = c.email),
           (select true
              from suppressions s
             where s.account_id = c.account_id
               and s.email = erased_name(c.email, (select address_key from installation))),
           false)`

/** Of contacts under the name c. */
export const contactColumns = sql`
  c.id, c.email, c.ext_id, c.sms, c.status, c.sms_blacklisted, c.attributes, c.tags, c.consent_date,
  c.consent_source, c.consent_ip, c.consent_text, c.tracking_consent, c.created_at, c.modified_at,
  array(select m.list_id
          from list_members m
         where m.account_id = c.account_id and m.contact_id = c.id
         order by m.list_id) as list_ids,
  array(select u.list_id
          from list_unsubscriptions u
         where u.account_id = c.account_id and u.contact_id = c.id
         order by u.list_id) as left_list_ids,
  ${isSuppressed} as is_suppressed`
