// What the pages say, in the reader's language where we have it.
import { de } from './languages/de.ts'
import { en } from './languages/en.ts'
import { es } from './languages/es.ts'
import { fr } from './languages/fr.ts'
import { it } from './languages/it.ts'
import { nl } from './languages/nl.ts'
import { pl } from './languages/pl.ts'
import { pt } from './languages/pt.ts'

export type Texts = typeof en

export const known: Record<string, Texts> = { en, fr, de, es, it, pt, nl, pl }

/** The first of the reader's languages, by their weight, that we have. */
export function textsFor(acceptLanguage: string | undefined): Texts {
  const wanted = (acceptLanguage ?? '')
    .slice(0, 1_000)
    .split(',')
    .map((one) => {
      const [tag = '', ...rest] = one.split(';').map((part) => part.trim().toLowerCase())
      const weight = rest.find((part) => part.startsWith('q='))?.slice(2)
      return { language: tag.split('-')[0] ?? '', weight: weight === undefined ? 1 : Number(weight) || 0 }
    })
    .filter(({ language, weight }) => weight > 0 && Object.hasOwn(known, language))
    .sort((a, b) => b.weight - a.weight)
  return known[wanted[0]?.language ?? 'en'] ?? en
}
