// Names among our own words: whatever direction they are written in, what stands around them keeps its place. Texts
// carry them between the marks that Unicode has for this, which become elements on the page.
import { type Html, html } from './html.ts'

const [anyWay, leftToRight, end] = ['\u2068', '\u2066', '\u2069']
const controls = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g
const inMarks = /([\u2066\u2068])([^\u2066-\u2069]*)\u2069([.,?!]?)/

/** What somebody chose to be called, or to call a list. */
export const nameIn = (name: string) => `${anyWay}${name.replaceAll(controls, '')}${end}`

export const addressIn = (email: string) => `${leftToRight}${email.replaceAll(controls, '')}${end}`

/** As HTML. A name that ends with a full stop ends the sentence as well. */
export function withNames(text: string): Html {
  const parts = text.replaceAll(`.${end}.`, `.${end}`).split(inMarks)
  const written: Html[] = []
  for (let at = 0; at < parts.length; at += 4) {
    const [plain = '', mark, name = '', stop = ''] = parts.slice(at, at + 4)
    written.push(html`${plain}`)
    if (mark === leftToRight) written.push(address(name, stop))
    else if (mark) written.push(html`<bdi>${name}</bdi>${stop}`)
  }
  return html`${written}`
}

/** Lines do not break within it, unless it is longer than they are, nor before the mark behind it. */
const address = (email: string, stop: string) =>
  html`<span class="address"><bdi dir="ltr">${email}</bdi>${stop}</span>`

const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u

/** For a title, which has no elements: the marks stay where they do something. */
export function titleOf(text: string): string {
  return text
    .replaceAll(`.${end}.`, `.${end}`)
    .replaceAll(/[\u2066\u2068]([^\u2066-\u2069]*)\u2069/g, (all, name: string) =>
      rightToLeft.test(name) ? all : name,
    )
}
