// The templates of a campaign as they are compiled: what the author wrote, with the provider's older placeholders
// in today's words, and preview line, header and footer in their places.
import { type Names, withLinks, withValues } from '../messages/templates/old-names.ts'
import { scanTags } from '../messages/tracking/scan-html.ts'
import type { CampaignContent } from './render-campaign.ts'

type Bodies = Pick<CampaignContent, 'html' | 'preview_text' | 'extras'>

export function htmlSource({ html, preview_text, extras }: Bodies, names: Names): string {
  const opening = withValues(previewOf(preview_text) + headerSource(extras.header), names)
  const footer = withValues(footerSource(extras.footer), names)
  const body = withValues(withLinks(html), names)
  if (opening === '' && footer === '') return body
  const { start, end } = bodyOf(body)
  return body.slice(0, start) + opening + body.slice(start, end) + footer + body.slice(end)
}

/** The word in braces stands for the link: to the message as a page in the header, to unsubscribe in the footer. */
export const headerSource = (header = '') =>
  withLinks(header).replaceAll('{here}', '<a href="{{ mirror }}">here</a>')
export const footerSource = (footer = '') =>
  withLinks(footer).replaceAll('{here}', '<a href="{{ unsubscribe }}">here</a>')

function previewOf(text: string): string {
  if (text === '') return ''
  return `<div style="display:none;max-height:0;overflow:hidden">${escapedSource(text)}</div>`
}

/** Text into HTML, without touching its tags and outputs. */
export function escapedSource(text: string): string {
  const opening = /\{\{|\{%/g
  const lastClosing = { '{{': text.lastIndexOf('}}'), '{%': text.lastIndexOf('%}') }
  const parts: string[] = []
  let from = 0
  for (let found = opening.exec(text); found; found = opening.exec(text)) {
    const open = found[0] as keyof typeof lastClosing
    const inside = found.index + 2
    // What nothing closes is text; looked up once, since it may open a hundred thousand times.
    if (lastClosing[open] < inside) {
      opening.lastIndex = found.index + 1
      continue
    }
    const end = text.indexOf(open === '{{' ? '}}' : '%}', inside) + 2
    parts.push(escaped(text.slice(from, found.index)), text.slice(found.index, end))
    from = end
    opening.lastIndex = end
  }
  return parts.join('') + escaped(text.slice(from))
}

const escaped = (text: string) => text.replaceAll(/[<>&]/g, (found) => entities[found] ?? found)

const entities: Record<string, string | undefined> = { '<': '&lt;', '>': '&gt;', '&': '&amp;' }

function bodyOf(html: string): { start: number; end: number } {
  let [start, end] = [0, html.length]
  scanTags(
    html,
    (name) => name === 'body',
    (tag) => {
      if (tag.isEnd) end = tag.start
      else if (start === 0) start = tag.end
    },
  )
  return { start, end: Math.max(start, end) }
}

/** `word`: what the link is called. */
export function automaticFooter(unsubscribe: string, word: string): string {
  return (
    '<p style="margin:24px 0 0;font:12px/1.5 sans-serif;color:#666;text-align:center">' +
    `<a href="${unsubscribe}" style="color:#666">${word}</a></p>`
  )
}
