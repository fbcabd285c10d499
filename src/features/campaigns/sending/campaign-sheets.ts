// The bodies of a campaign, prepared once for all recipients where its templates allow that.
import { htmlSheet, type Sheet, textSheet } from '../../messages/sheet.ts'
import type { CompiledTemplate } from '../../messages/templates/compile.ts'
import { leavingLinks, ownLinks } from '../../messages/templates/own-links.ts'
import { withoutComments } from '../../messages/tracking/scan-html.ts'
import type { CompiledCampaign } from '../render-campaign.ts'
import { tagLinks } from '../utm.ts'

export type CampaignSheets = { html: Sheet; text: Sheet }

/** Nothing where a body is made from another, gets a footer, or holds more than values. */
export function campaignSheets({ html, text, utm }: CompiledCampaign): CampaignSheets | undefined {
  if (!html.parts || !text?.parts || !leadsAway(html) || !leadsAway(text)) return undefined
  const change = utm && ((marked: string) => tagLinks(marked, utm, []))
  const [htmlPart, textPart] = [htmlSheet({ parts: html.parts, ownLinks, change }), textSheet(text.parts)]
  return htmlPart && textPart && { html: htmlPart, text: textPart }
}

// No text of an author has it.
const mark = '\u0000'

/** It would get a link to unsubscribe otherwise. */
function leadsAway({ parts = [] }: CompiledTemplate): boolean {
  const marked = parts.map((part) =>
    typeof part === 'string' ? part : leavingLinks.has(part.name ?? '') ? mark : '',
  )
  return withoutComments(marked.join('')).includes(mark)
}
