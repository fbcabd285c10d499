// Marks for the customer's own web statistics, put onto the links of a campaign.
import { rewriteHtml } from '../messages/tracking/rewrite.ts'
import type { CampaignContent } from './render-campaign.ts'

/** Names and values, ready for a query. */
export type Utm = [name: string, pair: string][]

export const utmSource = 'Posthorn'
export const utmMedium = 'EMAIL'

/** Nothing unless the campaign asks for them by a utmCampaign. */
export function utmOf({ id, extras }: Pick<CampaignContent, 'id' | 'extras'>): Utm | undefined {
  const { utmCampaign, utmContent, utmTerm, utmID } = extras
  if (!utmCampaign) return undefined
  const values = {
    utm_source: utmSource,
    utm_medium: utmMedium,
    utm_campaign: utmCampaign,
    utm_content: utmContent,
    utm_term: utmTerm,
    utm_id: utmID ?? id,
  }
  return Object.entries(values).flatMap(([name, value]) =>
    value ? [[name, `${name}=${encodeURIComponent(value)}`]] : [],
  )
}

/** But for the service's own. */
export function tagLinks(html: string, utm: Utm, own: string[]): string {
  return rewriteHtml(html, { click: (url) => tagged(url, utm), except: (url) => own.includes(url) })
}

/** What the author wrote into a link stays. */
function tagged(url: string, utm: Utm): string {
  const [, address = '', fragment = ''] = /^([^#]*)(.*)$/s.exec(url) ?? []
  const query = address.slice(address.indexOf('?') + 1)
  const has = (name: string) => address.includes('?') && new URLSearchParams(query).has(name)
  const pairs = utm.filter(([name]) => !has(name)).map(([, pair]) => pair)
  if (pairs.length === 0) return url
  const joint = address.includes('?') ? (/[?&]$/.test(address) ? '' : '&') : '?'
  return address + joint + pairs.join('&') + fragment
}
