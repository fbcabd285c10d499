import { defaults } from '../../accounts/settings/settings.ts'
import { type Allowed, mayNoteOpens } from '../../contacts/contacts/tracking-consent.ts'
import type { Rewriting } from './rewrite.ts'
import { clickToken, openToken, type TrackingKeys } from './tokens.ts'

export type TrackNeeds = { keys: TrackingKeys; baseUrl: string }

type Tracked = Allowed & { id: string; track: { opens?: boolean; clicks?: boolean } }

// A longer link would not fit into a token that every mail program keeps whole.
const longestLink = 2_000

/** As the account and the message allow; the account's "off" wins. */
export function whatIsTracked(due: Omit<Tracked, 'id'>): { opens: boolean; clicks: boolean } {
  const { click_tracking: areClicks } = { ...defaults, ...due.settings }
  return {
    opens: mayNoteOpens(due) && due.track.opens !== false,
    clicks: areClicks && due.track.clicks !== false,
  }
}

export function trackingOf({ keys, baseUrl }: TrackNeeds, due: Tracked): Rewriting {
  const { opens, clicks } = whatIsTracked(due)
  return {
    pixelUrl: opens ? `${baseUrl}/t/${openToken(keys, due.id)}.gif` : undefined,
    click: clicks ? (url) => `${baseUrl}/t/${clickToken(keys, due.id, url)}` : undefined,
    except: (url) => url.length > longestLink || url.startsWith(`${baseUrl}/`),
  }
}
