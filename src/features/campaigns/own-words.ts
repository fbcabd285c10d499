// The acts speak of the fields of the compatible namespace; callers of /api/v1 gave them other names.
import { Refusal } from '../../kernel/refusal.ts'

const ownNames: Record<string, string> = {
  id: 'campaign_id',
  htmlContent: 'html',
  templateId: 'template_id',
  replyTo: 'reply_to',
  scheduledAt: 'scheduled_at',
  sender: 'from',
  recipients: 'list_id',
}

/** What is wrong with something that was named by its number is a fault of the number that was given. */
function fieldOf(asked: object, told: string | undefined): string | undefined {
  if (told !== undefined && Object.hasOwn(asked, told)) return told
  const name = told && (ownNames[told] ?? told)
  if (name === undefined || name === 'confirm' || Object.hasOwn(asked, name)) return name
  const number = ['campaign_id', 'id'].find((one) => Object.hasOwn(asked, one))
  if (number !== undefined) return number
  return name === 'html' && Object.hasOwn(asked, 'template_id') ? 'template_id' : name
}

export async function inOwnWords<T>(asked: object, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const { declaration, told } = error
    const inOwn = { message: wordsOf(asked, error.message), param: fieldOf(asked, told.param) }
    const details = told.details?.map(({ code, message, param }) => {
      return { code, message: wordsOf(asked, message), param: fieldOf(asked, param) }
    })
    throw new Refusal(declaration, { ...told, ...inOwn, details })
  }
}

/** What a saved campaign lacks is written into it by the compatible namespace, under the names of that. */
const wordsOf = (asked: object, message: string) =>
  message.replaceAll(/\b(?:htmlContent|templateId|replyTo|scheduledAt)\b/g, (name) => {
    const own = ownNames[name] ?? name
    return Object.hasOwn(asked, 'campaign_id') && !Object.hasOwn(asked, own) ? name : own
  })
