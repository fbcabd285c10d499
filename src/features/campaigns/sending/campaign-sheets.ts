// The bodies of a campaign, prepared once for all recipients where its templates allow that.
import { readGround } from '../../messages/footer/ground.ts'
import { htmlSheet, type Sheet, textSheet } from '../../messages/sheet.ts'
import type { CompiledTemplate } from '../../messages/templates/compile.ts'
import { leavingLinks, ownLinks } from '../../messages/templates/own-links.ts'
import type { CompiledCampaign } from '../render-campaign.ts'
import { tagLinks } from '../utm.ts'

export type CampaignSheets = { html: Sheet; text: Sheet }

/** Nothing where a body is made from another, gets a footer, or holds more than values. */
export function campaignSheets({ html, text, utm }: CompiledCampaign): CampaignSheets | undefined {
  if (!html.parts || !text?.parts || !showsWayOut(html) || !leadsAway(text)) return undefined
  const change = utm && ((marked: string) => tagLinks(marked, utm, []))
  const [htmlPart, textPart] = [htmlSheet({ parts: html.parts, ownLinks, change }), textSheet(text.parts)]
  return htmlPart && textPart && { html: htmlPart, text: textPart }
}

// No text of an author has it.
const mark = '\u0000'

/** It would get a link to unsubscribe otherwise. */
export const showsWayOut = (html: CompiledTemplate) => readGround(marked(html), [mark]).isLinked

const leadsAway = (text: CompiledTemplate) => marked(text).includes(mark)

function marked({ parts = [] }: CompiledTemplate): string {
  const pieces = parts.map((part) =>
    typeof part === 'string' ? part : leavingLinks.has(part.name ?? '') ? mark : '',
  )
  return pieces.join('')
}
