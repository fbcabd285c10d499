// The bodies of a campaign, prepared once for all recipients where its templates allow that.
import { htmlSheet, type Sheet, textSheet } from '../../messages/sheet.ts'
import type { CompiledTemplate } from '../../messages/templates/compile.ts'
import type { CompiledCampaign } from '../render-campaign.ts'
import { tagLinks } from '../utm.ts'

export type CampaignSheets = { html: Sheet; text: Sheet }

export const leavingLinks = new Set(['unsubscribe_url', 'unsubscribe', 'preferences_url', 'update_profile'])
export const ownLinks = new Set([...leavingLinks, 'mirror'])

/** Nothing where a body is made from another, gets a footer, or holds more than values. */
export function campaignSheets({ html, text, utm }: CompiledCampaign): CampaignSheets | undefined {
  if (!html.parts || !text?.parts || !leadsAway(html) || !leadsAway(text)) return undefined
  const change = utm && ((marked: string) => tagLinks(marked, utm, []))
  const [htmlPart, textPart] = [htmlSheet({ parts: html.parts, ownLinks, change }), textSheet(text.parts)]
  return htmlPart && textPart && { html: htmlPart, text: textPart }
}

/** It would get a link to unsubscribe otherwise. */
const leadsAway = ({ parts = [] }: CompiledTemplate) =>
  parts.some((part) => typeof part !== 'string' && leavingLinks.has(part.name ?? ''))
