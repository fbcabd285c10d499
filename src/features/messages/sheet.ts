// A body of which only some places differ from one recipient to the next: values, tracked links, the pixel. What stands
// between them is read and encoded once for all.
import { storable } from '../../kernel/v3/lenient.ts'
import { openBody, type Piece, pieceOf } from './mime/quoted-printable.ts'
import { type Encoded, encodeText } from './mime/transfer.ts'
import { refuseTooLarge } from './templates/engine.ts'
import type { Environment, Gap, TemplatePart } from './templates/fast-path.ts'
import { beginRendering } from './templates/work.ts'
import { encoded, isLink, type Rewriting, rewriteHtml } from './tracking/rewrite.ts'
import { scanTags } from './tracking/scan-html.ts'

export type Sheet = (environment: Environment, rewriting: Rewriting) => Encoded

// Stands around what is put in, and in no text that is stored.
const mark = '\0'

type Fixed = Piece & { characters: number }
type Place = Fixed | Gap | { url: string } | 'pixel'

export type SheetNeeds = {
  parts: readonly TemplatePart[]
  /** Names of values that are addresses of this service, which are not tracked. */
  ownLinks: ReadonlySet<string>
  /** Of HTML: what else is done to its links. */
  change?: (html: string) => string
}

/** Nothing where a value could be a link or part of one, or base64 is shorter: each message is then written alone. */
export function htmlSheet({ parts, ownLinks, change = (html) => html }: SheetNeeds): Sheet | undefined {
  const gaps = gapsOf(parts)
  const text = markedText(parts)
  if (text === undefined || gaps.some(({ mayBeMarkup }) => mayBeMarkup)) return undefined
  if (!areLinksFixed(text, (at) => ownLinks.has(gaps[at]?.name ?? ''))) return undefined
  const marked = change(text)
  const known = new Map<string, Place[]>()
  return (environment, rewriting) => {
    const kind = `${rewriting.click !== undefined} ${rewriting.pixelUrl !== undefined}`
    const places = known.get(kind) ?? placesOf(marked, gaps, rewriting)
    if (!known.has(kind)) known.set(kind, places)
    return filled(places, environment, rewriting)
  }
}

export function textSheet(parts: readonly TemplatePart[]): Sheet | undefined {
  const text = markedText(parts)
  if (text === undefined) return undefined
  const places = placesOf(text, gapsOf(parts))
  return (environment) => filled(places, environment, {})
}

const gapsOf = (parts: readonly TemplatePart[]) => parts.filter((part) => typeof part !== 'string')

function markedText(parts: readonly TemplatePart[]): string | undefined {
  const fixed = parts.filter((part) => typeof part === 'string').join('')
  if (storable(fixed) !== fixed || encodeText(fixed).encoding === 'base64') return undefined
  let gap = 0
  return parts.map((part) => (typeof part === 'string' ? part : `${mark}${gap++}${mark}`)).join('')
}

/** Every link is written out, or one of the service's own as a whole; and no value names a tag. */
function areLinksFixed(marked: string, isOwn: (gap: number) => boolean): boolean {
  if (/<\/?(?:[a-z][^\s/<>]*)?\0/i.test(marked)) return false
  let areFixed = true
  scanTags(marked, isLink, ({ start, end, attributes }) => {
    const href = attributes.find(({ name }) => name === 'href')
    const value = href ? marked.slice(href.start, href.end) : ''
    const gap = /^\0(\d+)\0$/.exec(value)?.[1]
    const gaps = marked.slice(start, end).split(mark).length - 1
    areFixed &&= gaps === 0 || (gap !== undefined && gaps === 2 && isOwn(Number(gap)))
  })
  return areFixed
}

/** The links and the pixel are put in by those who track messages written one by one, as marks. */
function placesOf(marked: string, gaps: Gap[], rewriting?: Rewriting): Place[] {
  const urls: string[] = []
  const text = rewriting
    ? rewriteHtml(marked, {
        click: rewriting.click && ((url) => `${mark}link${urls.push(url) - 1}${mark}`),
        except: rewriting.except,
        pixelUrl: rewriting.pixelUrl && `${mark}pixel${mark}`,
      })
    : marked
  return text.split(mark).flatMap((piece, at): Place[] => {
    if (at % 2 === 0) return piece === '' ? [] : [{ ...pieceOf(piece), characters: piece.length }]
    if (piece === 'pixel') return ['pixel']
    if (piece.startsWith('link')) return [{ url: urls[Number(piece.slice(4))] ?? '' }]
    const gap = gaps[Number(piece)]
    return gap ? [gap] : []
  })
}

function filled(places: Place[], environment: Environment, { click, pixelUrl }: Rewriting): Encoded {
  beginRendering()
  const body = openBody()
  let characters = 0
  for (const place of places) {
    if (place === 'pixel') body.write(encoded(pixelUrl ?? ''))
    else if ('url' in place) body.write(encoded(click ? click(place.url) : place.url))
    else if ('print' in place) {
      const value = storable(place.print(environment))
      characters += value.length
      body.write(value)
    } else {
      characters += place.characters
      body.put(place)
    }
    refuseTooLarge(characters)
  }
  return { encoding: 'quoted-printable', body: body.quoted() }
}
