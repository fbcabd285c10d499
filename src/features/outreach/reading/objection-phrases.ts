// How people object in the words of the law, without asking to be taken off a list; folded, in the same languages. Each
// says who objects: that one has the right to is what companies write below all of their mail.
import { any, type Phrase } from './phrases.ts'

const firmly = '(hereby|formally|strongly|do|must|also|(like|want|wish) to|would)'
const weObject = `((i|we|i'd|we'd)( ${firmly}){0,2}|hereby)`
const ofYours = "(voir |lire )?(de |d'|aucune? |autres? |vos |tes |ces ){0,2}"
const mailings = '((e-?)?mails?|courriels?|messages?|sollicitations?)'

export const objection: Phrase[] = [
  any(
    0.9,
    new RegExp(String.raw`\b${weObject} object to .{0,40}\b(process|us(e|ing)|data|details|e-?mail)`),
    new RegExp(String.raw`\b${weObject} object to .{0,40}\b(marketing|contact|messages)`),
    /\b(my|our|(i|we) have (a|the)) (\w+ )?right (to object|to erasure|to be forgotten)\b/,
    /\b(withdraw|revoke) (my|our) consent\b/,
    /\b(delete|erase|remove) (all )?(of )?my (personal |contact )?(data|details|e-?mail|address|info)/,
  ),
  any(
    0.9,
    /\b(m'oppose|nous opposons)\b/,
    /\b(mon|notre|j'exerce le) droit (d'opposition|a l'effacement|a l'oubli|de retrait)\b/,
    /\bretir(e|ons) (mon|notre) consentement\b/,
    new RegExp(String.raw`\bne (veux|veut|voulons|souhaite|souhaitons) plus ${ofYours}${mailings}\b`),
    /^(merci,? )?plus (de |d'|aucune? )(\w+ )?((e-?)?mails?|courriels?|sollicitations?|pub)\b[^?]{0,30}$/,
  ),
  any(
    0.9,
    /\bwiderspr(eche|echen|uch) .{0,60}\b(nutzung|verarbeitung|verwendung|speicherung|zusendung|daten|werb)/,
    /\bwiderrufe (\w+ ){0,2}(meine|unsere|die) (einwilligung|zustimmung)\b/,
    /\bdsgvo\b.{0,80}\b(losch|widerspr)|\b(losch|widerspr)\w*\b.{0,80}\bdsgvo\b/,
  ),
  any(
    0.9,
    /\b(me opongo|nos oponemos)\b|\b(mi|ejerzo el) derecho (de|a la) (oposicion|supresion)\b/,
    /\b(borr|elimin)(a|e|en)(me|nos)\b|\bretiro mi consentimiento\b/,
  ),
  any(
    0.9,
    /\b(mi oppongo|ci opponiamo)\b|\bmio diritto (di opposizione|alla cancellazione|all'oblio)\b/,
    /\bessere (rimoss|cancellat)[oaie] .{0,20}\b(list|elenc|mail|databas)|\brevoco il (mio )?consenso\b/,
  ),
]
