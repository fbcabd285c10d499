// How people object in the words of the law, without asking to be taken off a list; folded, in the same languages.
import { any, type Phrase } from './phrases.ts'

export const objection: Phrase[] = [
  any(
    0.9,
    /\bobject to .{0,40}\b(process|us(e|ing)|data|details|e-?mail|marketing|contact|messages)/,
    /\bright (to object|to erasure|to be forgotten)\b/,
    /\b(withdraw|revoke) (my|our) consent\b/,
    /\b(delete|erase|remove) (all )?(of )?my (personal )?(data|details|e-?mail|address|contact|info)/,
  ),
  any(
    0.9,
    /\b(m'oppose|nous opposons)\b/,
    /\bdroit (d'opposition|a l'effacement|a l'oubli|de retrait)\b/,
    /\bretir(e|ons) (mon|notre) consentement\b/,
    /\bne (veux|veut|voulons|souhaite|souhaitons) plus (\w+ ){0,2}((e-?)?mail|courriel|message|sollicitation)/,
    /^(merci,? )?plus (de|d'|aucun) (\w+ )?((e-?)?mails?|courriels?|sollicitations?|pub)\b/,
  ),
  any(
    0.9,
    /\bwiderspr(eche|echen|uch) .{0,60}\b(nutzung|verarbeitung|verwendung|speicherung|zusendung|daten|werb)/,
    /\bwiderrufe (\w+ ){0,2}(meine|unsere|die) (einwilligung|zustimmung)\b/,
    /\bdsgvo\b.{0,80}\b(losch|widerspr)|\b(losch|widerspr)\w*\b.{0,80}\bdsgvo\b/,
  ),
  any(
    0.9,
    /\b(me opongo|nos oponemos)\b|\bderecho (de|a la) (oposicion|supresion)\b/,
    /\b(borr|elimin)(a|e|en)(me|nos)\b|\bretiro mi consentimiento\b/,
  ),
  any(
    0.9,
    /\b(mi oppongo|ci opponiamo)\b|\bdiritto (di opposizione|alla cancellazione|all'oblio)\b/,
    /\bessere (rimoss|cancellat)[oaie] .{0,20}\b(list|elenc|mail|databas)|\brevoco il (mio )?consenso\b/,
  ),
]
