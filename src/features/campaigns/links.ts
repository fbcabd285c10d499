// The links of a campaign that lead to this service: leaving, choosing lists, and the message as a page.
import { writeUnsubscribeToken } from '../contacts/unsubscribe/tokens.ts'
import { type LinkNeeds, mirrorUrl } from '../messages/mirror-link.ts'
import { testToken } from '../messages/recipient-links.ts'

export type Links = { unsubscribe: string; preferences: string; mirror: string }

type Of = { accountId: string; campaignId: string; email: string; messageId: string }

/** For one recipient of a real send; without the page where nothing leads to it. */
export function campaignLinks({ keys, baseUrl }: LinkNeeds, of: Of, readsMirror = true): Links {
  const { accountId, email, messageId } = of
  const token = writeUnsubscribeToken(keys, { accountId, email, messageId })
  return {
    unsubscribe: `${baseUrl}/u/${token}`,
    preferences: `${baseUrl}/preferences/${token}`,
    mirror: readsMirror ? mirrorUrl({ keys, baseUrl }, of) : '',
  }
}

/** Stands where the token of a recipient would. */
export const sharedToken = 'shared'

type Shared = Pick<Of, 'accountId' | 'campaignId'>

/** For nobody: a test or a preview must not take its reader off anything. */
export const testLinks = (needs: LinkNeeds, of: Shared) => nobodysLinks(needs, of, testToken)

/** Where there is no campaign yet, its page is one that says so. */
export const testMirror = (baseUrl: string) => `${baseUrl}/mirror/${testToken}`

/** For whoever reads what was sent to others. */
export const sharedLinks = (needs: LinkNeeds, of: Shared) => nobodysLinks(needs, of, sharedToken)

function nobodysLinks(needs: LinkNeeds, of: Shared, token: string): Links {
  const { baseUrl } = needs
  return {
    unsubscribe: `${baseUrl}/u/${token}`,
    preferences: `${baseUrl}/preferences/${token}`,
    mirror: mirrorUrl(needs, of),
  }
}
