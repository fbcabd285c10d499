// What a person wrote themselves: without what they quote and without their signature.
import { textFromHtml } from '../../messages/mime/text-from-html.ts'
import { oneOf } from './fold.ts'
import type { IncomingMail } from './parse-mail.ts'

export function newText({ text, html }: Pick<IncomingMail, 'text' | 'html'>): string {
  const plain = text.trim() ? text : textFromHtml(beforeQuote(html ?? ''))
  return cutQuoted(plain)
}

const quoteNames =
  'gmail_quote|yahoo_quoted|moz-cite-prefix|divRplyFwdMsg|appendonsend|reference-message|type="?cite'
const htmlQuote = new RegExp(`<(?:div|blockquote|hr)\\b[^<>]{0,500}(?:${quoteNames})`, 'i')

const beforeQuote = (html: string) => html.slice(0, htmlQuote.exec(html)?.index ?? html.length)

// Two dashes at its end stand for all: a line of nothing else would be gone through from each of them.
const original = oneOf(
  /^\W*--\s*(original|forwarded|message (d'origine|transfere|original)|ursprungliche|weitergeleitete)/,
  /^\W*--\s*(mensaje (ori|reenv)|messaggio (ori|inol))/,
)
const outlookFrom = /^\*?(from|de|von|da|van|od|fran|fra|差出人|发件人)\s?[:：]/
const outlookNext = oneOf(
  /^\*?(sent|date|to|subject|envoye|objet|a|gesendet|datum|an|betreff|enviad[oa]|para|asunto)\b.{0,12}?:/,
  /^\*?(inviato|oggetto|assunto|verzonden|aan|onderwerp|wyslano|wysłano|do|temat)\b.{0,12}?:/,
  /^\*?(skickat|till|amne|sendt|dato|til|emne)\b.{0,12}?:|^(送信日時|宛先|件名|发送时间|收件人|主题)\s?[:：]/,
)
const attribution = /^(on|le|am|el|il|at)\b.{4,300}\b(wrote|a ecrit|schrieb|escribio|ha scritto)\b.{0,200}:$/
const shortAttribution = /^.{0,200}<\S+@\S+>.{0,60}\b(wrote|a ecrit|schrieb|escribio|ha scritto)\s?:$/
const signature = oneOf(
  /^(--|__)$/,
  /^(sent from my|get outlook for|envoye (de mon|depuis|a partir)|telecharger outlook)/,
  /^(von meinem|gesendet von|enviado desde|inviato da)/,
)

// In whatever language: an address, a time of day, and a colon at the end.
const anyAttribution = /^(?=.{0,300}\S@\S)(?=.{0,300}\b\d{1,2}[:.]\d{2}\b).{10,300}[:：]$/

/** Lines that others wrote are left out, wherever the answer stands. */
export function cutQuoted(text: string): string {
  const lines = text.slice(0, 50_000).replaceAll('\r', '').split('\n')
  const kept: string[] = []
  for (let at = 0; at < lines.length; at++) {
    const line = lines[at] ?? ''
    if (line.startsWith('>')) continue
    const spread = attributionAt(lines, at)
    if (spread > 0) {
      if (!quotesAfter(lines, at + spread)) break
      at += spread - 1
    } else if (endsHere(lines, at)) break
    else kept.push(line)
  }
  return kept.join('\n').trim()
}

const folded = (line: string | undefined) =>
  (line ?? '').trim().toLowerCase().normalize('NFD').replaceAll(/\p{M}/gu, '').replaceAll('’', "'")

/** How many lines the sentence has that says who wrote what follows; 0: there is none. */
function attributionAt(lines: string[], at: number): number {
  for (let count = 1; count <= 3; count++) {
    const sentence = lines
      .slice(at, at + count)
      .map(folded)
      .join(' ')
    if (sentence.length > 600) return 0
    if (attribution.test(sentence)) return count
    if (count === 1 && (shortAttribution.test(sentence) || anyAttribution.test(sentence))) return count
  }
  return 0
}

const quotesAfter = (lines: string[], at: number) =>
  lines
    .slice(at)
    .find((line) => line.trim() !== '')
    ?.startsWith('>') === true

function endsHere(lines: string[], at: number): boolean {
  const line = folded(lines[at])
  if (original.test(line) || signature.test(line) || /^_{10,}$/.test(line)) return true
  return outlookFrom.test(line) && lines.slice(at + 1, at + 4).some((next) => outlookNext.test(folded(next)))
}
