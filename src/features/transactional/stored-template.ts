// A stored template as it is sent: with the provider's older placeholders in today's words.
import type { Db } from '../../kernel/db.ts'
import { attributeNames } from '../contacts/attributes/names.ts'
import { mayHaveNames, withLinks, withValues } from '../messages/templates/old-names.ts'
import { findTemplate, type UsedTemplate } from './template-queries.ts'

export const templatesHint = 'GET /v3/smtp/templates tells which templates there are.'

export async function storedTemplate(
  db: Db,
  accountId: string,
  id: number,
): Promise<UsedTemplate | undefined> {
  const found = await findTemplate(db, accountId, id)
  return found && inTodaysWords(db, accountId, found)
}

export async function inTodaysWords<T extends { subject: string; html: string }>(
  db: Db,
  accountId: string,
  template: T,
): Promise<T> {
  const [subject, html] = [withLinks(template.subject), withLinks(template.html)]
  const isNamed = mayHaveNames(subject) || mayHaveNames(html)
  const names = isNamed ? await attributeNames(db, accountId) : []
  return { ...template, subject: withValues(subject, names), html: withValues(html, names) }
}
