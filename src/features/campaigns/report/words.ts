// What a report says, in each of its languages.
import type { Statistics } from '../statistics.ts'

export const languages = ['fr', 'es', 'pt', 'it', 'de', 'en'] as const
export type Language = (typeof languages)[number]

/** The figures that a report has, in its order. */
export const told = [
  'sent',
  'delivered',
  'viewed',
  'uniqueViews',
  'clickers',
  'uniqueClicks',
  'hardBounces',
  'softBounces',
  'unsubscriptions',
  'complaints',
] as const satisfies (keyof Statistics['globalStats'])[]

type Words = { title: string; names: Record<(typeof told)[number], string> }

// In the order of `told`.
const wordsOf = (title: string, ...names: string[]): Words => ({
  title,
  names: Object.fromEntries(told.map((figure, i) => [figure, names[i]])) as Words['names'],
})

export const words: Record<Language, Words> = {
  fr: wordsOf(
    'Rapport de campagne',
    ...['Envoyés', 'Délivrés', 'Ouvertures', 'Ouvertures uniques', 'Clics', 'Clics uniques'],
    ...['Erreurs définitives', 'Erreurs temporaires', 'Désinscriptions', 'Plaintes'],
  ),
  es: wordsOf(
    'Informe de campaña',
    ...['Enviados', 'Entregados', 'Aperturas', 'Aperturas únicas', 'Clics', 'Clics únicos'],
    ...['Rebotes permanentes', 'Rebotes temporales', 'Bajas', 'Quejas'],
  ),
  pt: wordsOf(
    'Relatório da campanha',
    ...['Enviados', 'Entregues', 'Aberturas', 'Aberturas únicas', 'Cliques', 'Cliques únicos'],
    ...['Erros permanentes', 'Erros temporários', 'Cancelamentos', 'Reclamações'],
  ),
  it: wordsOf(
    'Rapporto della campagna',
    ...['Inviati', 'Consegnati', 'Aperture', 'Aperture uniche', 'Clic', 'Clic unici'],
    ...['Errori permanenti', 'Errori temporanei', 'Disiscrizioni', 'Reclami'],
  ),
  de: wordsOf(
    'Kampagnenbericht',
    ...['Gesendet', 'Zugestellt', 'Öffnungen', 'Eindeutige Öffnungen', 'Klicks', 'Eindeutige Klicks'],
    ...['Dauerhaft unzustellbar', 'Vorübergehend unzustellbar', 'Abmeldungen', 'Beschwerden'],
  ),
  en: wordsOf(
    'Campaign report',
    ...['Sent', 'Delivered', 'Opens', 'Unique opens', 'Clicks', 'Unique clicks'],
    ...['Hard bounces', 'Soft bounces', 'Unsubscriptions', 'Complaints'],
  ),
}
