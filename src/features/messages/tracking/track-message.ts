import { defaults, type Settings } from '../../accounts/settings/settings.ts'
import type { Rewriting } from './rewrite.ts'
import { clickToken, openToken, type TrackingKeys } from './tokens.ts'

export type TrackNeeds = { keys: TrackingKeys; baseUrl: string }

type Tracked = {
  id: string
  track: { opens?: boolean; clicks?: boolean }
  tracking_consent: boolean | null
  settings: Partial<Settings>
}

// A longer link would not fit into a token that every mail program keeps whole.
const longestLink = 2_000

/** What is tracked of a message, as the account and the message allow; the account's "off" wins. */
export function trackingOf({ keys, baseUrl }: TrackNeeds, due: Tracked): Rewriting {
  const settings = { ...defaults, ...due.settings }
  const isAgreed = settings.open_tracking === 'consented_only' && due.tracking_consent === true
  const isOpenTracked = (settings.open_tracking === 'on' || isAgreed) && due.track.opens !== false
  const isClickTracked = settings.click_tracking && due.track.clicks !== false
  return {
    pixelUrl: isOpenTracked ? `${baseUrl}/t/${openToken(keys, due.id)}.gif` : undefined,
    click: isClickTracked ? (url) => `${baseUrl}/t/${clickToken(keys, due.id, url)}` : undefined,
    except: (url) => url.length > longestLink || url.startsWith(`${baseUrl}/`),
  }
}
