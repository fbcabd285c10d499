// The links of transactional mail that are the recipient's own. A text is rendered once for all of its recipients, so
// it holds these addresses, which lead nowhere, until each recipient's message is composed.
import { type FindUnsubscribeKeys, writeUnsubscribeToken } from '../contacts/unsubscribe/tokens.ts'
import { mirrorUrl } from './mirror-link.ts'

const host = 'https://recipient.posthorn.invalid/'

/** What templates of transactional mail read. */
export const recipientLinks = {
  unsubscribe_url: `${host}unsubscribe`,
  preferences_url: `${host}preferences`,
  mirror: `${host}mirror`,
}

/** Of one that leads nowhere yet. */
export const isRecipientLink = (url: string) => url.startsWith(host)

/** Stands where the token of a recipient would: a test or a preview must not take its reader off anything. */
export const testToken = 'test'

/** Of a test. Its page is a real one: that of the message itself. */
export const testLinks = (baseUrl: string) => ({
  unsubscribe_url: `${baseUrl}/u/${testToken}`,
  preferences_url: `${baseUrl}/preferences/${testToken}`,
  mirror: recipientLinks.mirror,
})

type Needs = { unsubscribeKeys: FindUnsubscribeKeys; baseUrl: string }
type Message = { id: string; account_id: string; recipient: string }

export type FillIn = (message: Message, text: string) => Promise<string>

export function linkFiller({ unsubscribeKeys, baseUrl }: Needs): FillIn {
  return async ({ id, account_id, recipient }, text) => {
    if (!text.includes(host)) return text
    const keys = await unsubscribeKeys()
    const of = { accountId: account_id, messageId: id }
    const token = writeUnsubscribeToken(keys, { ...of, email: recipient })
    return text
      .replaceAll(recipientLinks.unsubscribe_url, `${baseUrl}/u/${token}`)
      .replaceAll(recipientLinks.preferences_url, `${baseUrl}/preferences/${token}`)
      .replaceAll(recipientLinks.mirror, mirrorUrl({ keys, baseUrl }, of))
  }
}
