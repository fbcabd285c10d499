// Where a footer can stand so that readers see it, and whether they see a link that stands in the HTML already.
import { type TemplateFault, templateFault } from '../templates/fault.ts'
import { isRawText, scanTags, type Tag, withoutComments } from '../tracking/scan-html.ts'
import { hides } from './hiding.ts'
import { openElements } from './open-elements.ts'

export type Ground = {
  /** Where readers see last what is put in. */
  at: number
  /** Where that begins which is open there and hides all that follows. */
  hiddenFrom: number | undefined
  /** They see one of the links. */
  isLinked: boolean
}

export function readGround(html: string, links: string[] = []): Ground {
  const open = openElements()
  const seen = linkWatch(html, links)
  let at: number | undefined
  const neverEnds = scanTags(
    html,
    () => true,
    (tag) => {
      seen.textBefore(tag, open.hiding() !== undefined)
      if (tag.isEnd) open.end(tag.name)
      else open.begin(tag, hides(html, tag))
      const isHidden = open.hiding() !== undefined
      if (tag.isEnd && tag.name === 'body' && !isHidden) at = tag.start
      seen.tag(tag, isHidden)
    },
  )
  if (neverEnds < 0) seen.textBefore({ start: html.length }, open.hiding() !== undefined)
  const hidden = [open.hiding()?.start ?? -1, neverEnds].filter((start) => start >= 0)
  if (at !== undefined) return { at, hiddenFrom: undefined, isLinked: seen.isLinked() }
  const hiddenFrom = hidden.length > 0 ? Math.min(...hidden) : undefined
  return { at: html.length, hiddenFrom, isLinked: seen.isLinked() }
}

const shownInLinks = new Set(['img', 'input', 'button'])

/** A link is seen as text, or where something stands in it. */
function linkWatch(html: string, links: string[]) {
  let isLinked = false
  let isInLink = false
  let textFrom = 0
  const holds = (text: string) => links.some((link) => text.includes(link))
  const isThere = holds(html)
  return {
    isLinked: () => isLinked,
    textBefore({ start }: Pick<Tag, 'start'>, isHidden: boolean): void {
      if (isLinked || isHidden || !isThere) return
      const written = html.slice(textFrom, start)
      if (!isInLink && !holds(written)) return
      const text = withoutComments(written)
      isLinked = (isInLink && text.trim() !== '') || holds(text)
    },
    tag({ name, isEnd, end, attributes }: Tag, isHidden: boolean): void {
      textFrom = end
      if (!isThere) return
      if (isEnd ? name === 'a' : name === 'a' || isRawText(name)) isInLink = false
      if (isEnd || isHidden) return
      const href = attributes.find((one) => one.name === 'href')
      const isOurs = href !== undefined && holds(html.slice(href.start, href.end))
      if (name === 'a') isInLink = isOurs
      isLinked ||= (name === 'area' && isOurs) || (isInLink && shownInLinks.has(name))
    },
  }
}

/** Throws a template fault where nobody would see it. */
export function placeFooter(html: string, footer: string, ground = readGround(html)): string {
  const fault = faultOfHidden(html, ground)
  if (fault) throw fault
  return html.slice(0, ground.at) + footer + html.slice(ground.at)
}

export function faultOfHidden(html: string, { hiddenFrom }: Ground): TemplateFault | undefined {
  if (hiddenFrom === undefined) return undefined
  const before = html.slice(0, hiddenFrom)
  const line = before.split('\n').length
  const shown = (/^[^\r\n]{0,40}/.exec(html.slice(hiddenFrom))?.[0] ?? '').toWellFormed()
  return templateFault(
    `${shown} is never closed and hides all that follows, with it the way to unsubscribe. Close it`,
    line,
    hiddenFrom - before.lastIndexOf('\n'),
  )
}
