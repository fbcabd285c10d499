// Which elements are open at a place of an HTML text: after the tree construction of the HTML standard (section
// 13.2.6), as far as finding out what is hidden needs it.
import type { Tag } from '../tracking/scan-html.ts'

const words = (text: string) => new Set(text.split(' '))

const empty = words('area base br col embed hr img input link meta param source track wbr')
const formatting = words('a b big code em font i nobr s small strike strong tt u')
// All that no end of another, inline element closes.
const blocks = words(
  'address article aside blockquote body button caption center col colgroup dd details dir div dl dt fieldset ' +
    'figcaption figure footer form frameset h1 h2 h3 h4 h5 h6 head header html li main marquee menu nav noscript ' +
    'object ol p pre section select summary table tbody td template tfoot th thead tr ul applet',
)
const closesParagraph = words(
  'address article aside blockquote center details dialog dir div dl dd dt fieldset figcaption figure footer form h1 ' +
    'h2 h3 h4 h5 h6 header hr li main menu nav ol p pre section summary table ul',
)
const tableParts = words('caption colgroup table tbody td tfoot th thead tr')
const insideTables = words('table template')
const elsewhere = words('applet caption html marquee object table td template th')
// A browser never closes them.
const always = words('body html')

/** What a new one of them ends, and what keeps it from looking further. */
const ends: Record<string, { names: Set<string>; within: Set<string> } | undefined> = {
  li: { names: words('li'), within: words('ol ul menu table td th template') },
  dd: { names: words('dd dt'), within: words('dl table td th template') },
  td: { names: words('td th'), within: insideTables },
  tr: { names: words('tr'), within: insideTables },
  tbody: { names: words('tbody thead tfoot caption'), within: insideTables },
}
Object.assign(ends, { dt: ends.dd, th: ends.td, thead: ends.tbody, tfoot: ends.tbody })

type Element = { name: string; start: number; isHiding: boolean }

// Looked through at most: an end is otherwise no end, which errs on the side of what is hidden.
const deepest = 300

export type OpenElements = {
  begin(tag: Tag, isHiding: boolean): void
  end(name: string): void
  /** The outermost that hides what stands in it. */
  hiding(): Element | undefined
}

export function openElements(): OpenElements {
  const stack: Element[] = []
  let hidingAt = -1

  function find(isWanted: (name: string) => boolean, within: Set<string>): number {
    for (let at = stack.length - 1; at >= 0 && at >= stack.length - deepest; at -= 1) {
      const name = stack[at]?.name ?? ''
      if (isWanted(name)) return at
      if (within.has(name)) return -1
    }
    return -1
  }

  function cut(at: number): void {
    if (at < 0) return
    stack.length = at
    if (hidingAt >= at) hidingAt = -1
  }

  function takeOut(at: number): void {
    stack.splice(at, 1)
    if (hidingAt > at) hidingAt -= 1
    else if (hidingAt === at) {
      while (hidingAt < stack.length && !stack[hidingAt]?.isHiding) hidingAt += 1
      if (hidingAt === stack.length) hidingAt = -1
    }
  }

  return {
    begin({ name, start }, isHiding) {
      if (empty.has(name)) return
      if (closesParagraph.has(name)) cut(find((one) => one === 'p', blocks))
      const ended = ends[name]
      if (ended) cut(find((one) => ended.names.has(one), ended.within))
      if (isHiding && hidingAt < 0) hidingAt = stack.length
      stack.push({ name, start, isHiding })
    },
    end(name) {
      if (always.has(name)) return
      const last = stack.length - 1
      if (stack[last]?.name === name) return cut(last)
      const at = find((one) => one === name, tableParts.has(name) ? insideTables : elsewhere)
      if (at < 0) return
      const crosses = !blocks.has(name) && stack.slice(at + 1).some((one) => blocks.has(one.name))
      if (!crosses) cut(at)
      else if (formatting.has(name)) takeOut(at)
    },
    hiding: () => stack[hidingAt],
  }
}
