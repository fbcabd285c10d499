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

const ownName = (name: string | undefined) => name && (ownNames[name] ?? name)

export async function inOwnWords<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof Refusal)) throw error
    const { declaration, told } = error
    const message = error.message.replaceAll(
      /\b(?:htmlContent|templateId|replyTo|scheduledAt)\b/g,
      (name) => ownNames[name] ?? name,
    )
    throw new Refusal(declaration, { ...told, message, param: ownName(told.param) })
  }
}
