// The link that leaves, as it is called where it is put below a message that has none.

export const languages = ['en', 'fr', 'de', 'es', 'it', 'pt', 'nl', 'pl'] as const
export type Language = (typeof languages)[number]

export const leaveWords: Record<Language, string> = {
  en: 'Unsubscribe',
  fr: 'Se désabonner',
  de: 'Abbestellen',
  es: 'Darse de baja',
  it: 'Annulla l’iscrizione',
  pt: 'Cancelar a subscrição',
  nl: 'Afmelden',
  pl: 'Wypisz się',
}

/** Of the attribute LANGUAGE: "de", "DE-at", "fr_FR"; English where it says nothing that we know. */
export function languageOf(attributes: Record<string, unknown> | null): Language {
  const given = String(attributes?.LANGUAGE ?? '')
    .trim()
    .toLowerCase()
  const code = /^[a-z]{2}(?![a-z])/.exec(given)?.[0]
  return languages.find((one) => one === code) ?? (given.startsWith('fr') ? 'fr' : 'en')
}
