// What phrases are looked for in, and subjects compared by.

/** Lower case, without accents or marks that nobody sees, wide letters as usual ones, one space between words. */
export function fold(text: string): string {
  return text
    .toLowerCase()
    .normalize('NFKD')
    .replaceAll(/[\p{M}\p{Cf}]/gu, '')
    .replaceAll(/[’‘ʼ`´]/g, "'")
    .replaceAll('ß', 'ss')
    .replaceAll(/[\s\u00a0\u202f]+/g, ' ')
    .trim()
}

// Answers and forwards of many programs: Re, Aw, Sv, Tr, Fw, Wg, Rif, R, also with a count: Re[2].
const prefix = /^(re|aw|antw|antwort|sv|vs|tr|fw|fwd|wg|rv|rif|r|ref|i|enc)(\[\d+\])?\s*:\s*/

/** A subject as it was before anybody answered it. */
export function normalSubject(subject: string): string {
  let folded = fold(subject)
  while (prefix.test(folded)) folded = folded.replace(prefix, '')
  return folded.replace(/^\[[^\]]{1,30}\]\s*/, '')
}

/** One expression of several, so that each can stand on a line. */
export const oneOf = (...patterns: RegExp[]) => new RegExp(patterns.map(({ source }) => source).join('|'))
