// A message as a page. Its subject and the width of the screen are what a mail program knows and a browser does not:
// a tab would show the address of the page, and a telephone the page as small as one for large screens.
import { scanTags } from '../../features/messages/tracking/scan-html.ts'
import { html } from './html.ts'

/** What its author wrote about either stays. */
export function mailPage(mail: { html: string; subject: string }): string {
  const { at, isTitled, isSized } = readHead(mail.html)
  const title = !isTitled && mail.subject.trim() !== '' && html`<title>${mail.subject}</title>`
  // No scale: browsers then show what is wider than the screen as a whole.
  const size = !isSized && html`<meta name="viewport" content="width=device-width">`
  return mail.html.slice(0, at) + html`${size}${title}`.text + mail.html.slice(at)
}

const wanted = new Set(['html', 'head', 'body', 'svg', 'title', 'meta'])

/** Where the head begins, also where no tag says so, and what it has. */
function readHead(page: string): { at: number; isTitled: boolean; isSized: boolean } {
  let at = /^\s*<!doctype[^>]*>/i.exec(page)?.[0].length ?? 0
  let [isTitled, isSized, isOver, isOpen] = [false, false, false, false]
  scanTags(
    page,
    (name) => wanted.has(name),
    ({ name, isEnd, end, attributes }) => {
      if (isEnd || isOver) return
      if (name === 'body' || name === 'svg') isOver = true
      if (name === 'head' || (name === 'html' && !isOpen)) at = end
      if (name === 'head') isOpen = true
      if (name === 'title') isTitled ||= !/^\s*<\//.test(page.slice(end, end + 200))
      if (name === 'meta')
        isSized ||= attributes.some((one) => /^viewport$/i.test(page.slice(one.start, one.end)))
    },
  )
  return { at, isTitled, isSized }
}
