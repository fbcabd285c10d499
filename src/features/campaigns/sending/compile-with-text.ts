// The text part of a campaign that was given as HTML only.
import { placeFooter, readGround } from '../../messages/footer/ground.ts'
import { textFromHtml } from '../../messages/mime/text-from-html.ts'
import type { Names } from '../../messages/templates/old-names.ts'
import { ownLinks } from '../../messages/templates/own-links.ts'
import { isLink } from '../../messages/tracking/rewrite.ts'
import { scanTags } from '../../messages/tracking/scan-html.ts'
import { automaticFooter, htmlSource } from '../campaign-source.ts'
import { type CampaignContent, type CompiledCampaign, compileCampaign } from '../render-campaign.ts'
import { tagLinks } from '../utm.ts'
import { showsWayOut } from './campaign-sheets.ts'

// Piece by piece: one expression for all of it would look through the rest of the text from each opening on.
export function isMoreThanValues(html: string): boolean {
  return html.split('}').some((piece) => {
    const at = piece.indexOf('{{')
    return piece.includes('{%') || (at >= 0 && /\|(?!\s*default\b)|[<>&]/.test(piece.slice(at + 2)))
  })
}

/**
 * The text part of a template that only puts values in is made once, as a template: making it from each recipient's
 * HTML costs more than all the rest of writing the message. It reads as if it were made from that.
 */
export function compileWithText(content: CampaignContent, names: Names): CompiledCampaign {
  const html = htmlSource(content, names)
  const compiled = compileCampaign(content, names)
  if (content.text !== null || isMoreThanValues(html)) return compiled
  const { utm } = compiled
  if (utm && !areLinksWritten(html)) return compiled
  const ground = readGround(html)
  const isLeft = showsWayOut(compiled.html)
  if (!isLeft && ground.hiddenFrom !== undefined) return compiled
  const footer = automaticFooter('{{ unsubscribe_url }}', '{{ unsubscribe_word }}')
  const whole = isLeft ? html : placeFooter(html, footer, ground)
  return compileCampaign({ ...content, text: textFromHtml(utm ? tagLinks(whole, utm, []) : whole) }, names)
}

/** What is a link only with the recipient's values in it cannot be marked before they are known. */
function areLinksWritten(html: string): boolean {
  let areWritten = true
  scanTags(html, isLink, ({ attributes }) => {
    const href = attributes.find(({ name }) => name === 'href')
    const value = href ? html.slice(href.start, href.end) : ''
    const name = /^\{\{\s*(\w+)\s*\}\}$/.exec(value.trim())?.[1]
    areWritten &&= !value.includes('{{') || ownLinks.has(name ?? '')
  })
  return areWritten
}
