// What people write who want to be left alone. A miss writes to somebody who said no; so more languages are read than
// for the rest.
import { oneOf } from './fold.ts'
import { any, type Phrase } from './phrases.ts'

const condition = (start: string, myself: string) =>
  new RegExp(String.raw`\b${start} (?![^.!?]{0,200}\b(${myself})\b)[^.!?]{0,200}`, 'g')

/** What turns the word after it round; looked for first and taken out before anything else is. */
export const notUnsubscribe = [
  /\b(do not|don't|didn't|did not|not want to|no need to) (\w+ ){0,2}(unsubscribe|opt out|remove me)/g,
  /\bne (me |nous )?(desabonn|desinscri|retir)\w* pas\b/g,
  /\b(m'oppose|nous opposons) (\w+ )?(pas|point|nullement|aucunement)\b/g,
  /\b(do not|don't|not|no|cannot|never) object(ions?)?\b/g,
  /\bno (me opongo|nos oponemos)\b|\bnon (mi oppongo|ci opponiamo)\b|\bkein\w* widerspruch\b/g,
  /\bwidersprech\w*( ich| wir)? nicht\b|\bwidersprech\w* ((?!und )[^\s.!?,;]+ ){0,12}nicht(?=[.!?,;]|$)/g,
  /\bsie (haben|konnen) ((?!ich |wir |hiermit )[^\s.!?]+ ){0,8}widerspr(uch\w*|echen\b(?! wir\b))/g,
  // The footer of our own message, quoted in a way that was not known for a quote.
  /\bunsubscribe\W{1,4}https?:\S+/g,
  // What companies write below all of their mail, to whoever reads it; somebody who means themselves says so.
  condition('if you (\\w+ ){0,3}(wish|want|prefer|like)', 'me|my'),
  condition('si vous (ne )?(\\w+ )?(souhaitez|desirez|voulez)', 'me|moi|mon|mes'),
  condition('(wenn|falls|sollten) sie ([^\\s.!?]+ ){0,6}(mochten|wunschen|wollen)', 'mich|mir|meine?'),
  condition('si (usted )?(no |ya no )?(desea|quiere)', 'me|mi|mis'),
  condition('se (non )?(\\w+ )?(desidera|vuole|volete)(te)?', 'mi|mio|mia'),
]

const dutch: Phrase[] = [
  any(
    0.9,
    /\b(uitschrijven|afmelden|afmelding)\b/,
    /\bgeen (verdere |andere )?((e-?)?mails?|berichten|reclame)( \w+){0,2} meer\b/,
    /\b(mail|schrijf|benader|contacteer)( \w+){0,2} niet meer\b/,
    /\bverwijder (mij|me|mijn|ons|onze)\b|\bhaal (mij|me|mijn|ons|onze) .{0,30}\b(van|uit)\b/,
  ),
]

const portuguese: Phrase[] = [
  any(
    0.9,
    /\bdescadastr|\bcancelar (a )?(minha )?(inscricao|subscricao)\b/,
    /\b(remov(a|am|er)|retir(e|em|ar)|exclu(a|am|ir))[- ](me|nos|(o )?(meu|nosso) (e-?mail|endereco|nome|contac?to))\b/,
    /\bnao (quero|queremos|desejo|desejamos) (\w+ )?(receber) (\w+ ){0,2}(e-?mails?|mensagens|contac?tos?)\b/,
    /\bnao (me |nos )?(envi|mand|escrev|contact)\w+ (\w+ )?mais\b/,
  ),
]

const polish: Phrase[] = [
  any(
    0.9,
    /\bwypis(ac|anie|z|zcie|ujcie) (mnie|nas|sie|z)\b/,
    /\busu(n|nac|ncie|niecie) (\w+ ){0,2}(mnie|nas|moj\w*|nasz\w*)\b/,
    /\bnie (wysy[łl]a|pisz|kontaktuj)\S* (\w+ ){0,3}(wiecej|do mnie|do nas|ze mna)\b/,
  ),
]

export const unsubscribe: Phrase[] = [
  [/\bunsubscrib|\b(opt|opted|opting)[ -]?out\b|\bunsuscribe\b/, 0.95],
  any(
    0.9,
    /\b(remove|delete|take|drop) (me|us|my (name|email|e-mail|address|data|details)|this (email|address))\b/,
  ),
  [/\bstop (\w+ )?(e-?mail|writ|contact|messag|spamm|send)/, 0.95],
  [/\b(do not|don't|never|please no) (\w+ ){0,2}(e-?mail|contact|write( to)?|message) (me|us)\b/, 0.9],
  any(
    0.9,
    /\bnever (write|e-?mail|contact|message)( to)?( me| us)? again\b|\bcease and desist\b/,
    /\b(do not|don't|never) (want|wish|like) to (be (contacted|e-?mailed)|hear from you)\b/,
    /\b(do not|don't) (want|wish) (to (receive|get) )?((any|more|further|your|these|such) ){1,3}(e-?mail|messages?)/,
  ),
  [/\bno (more|further) (e-?mails?|messages?|mails?|contact)\b/, 0.9],
  [/\bgdpr\b.{0,80}\b(delete|remove|erase|request|data)|\b(delete|remove|erase)\b.{0,80}\bgdpr\b/, 0.9],
  [/\bdesabonn|\bdesinscri/, 0.95],
  any(
    0.9,
    /\b(retire[rz]|enleve[rz]|supprime[rz]|effacez)[- ](moi|nous|mon|mes|nos|notre|me|cette adresse)\b/,
  ),
  [
    /(\bme|\bnous|\bm'|\bmon (adresse|e?-?mail)) ?(retirer|enlever|supprimer|effacer|rayer|oter) d(e|u|es)\b/,
    0.9,
  ],
  [/\bne (\w+ ){0,2}plus (\w+ ){0,3}(recevoir|contact|ecrire|envoyer|sollicit|demarch)/, 0.9],
  any(
    0.9,
    /\bne pas (me |nous )?(re)?(contacter|solliciter|demarcher)/,
    /\bne pas (m'|nous )(ecrire|envoyer (vos |de |d'|ces )?((e-?)?mails?|courriels?|messages?|pub))/,
    /\bne (souhait|veu|voul|desir)\w* pas (etre |me faire |que vous )(\w+ )?(re)?(contact|sollicit|demarch)/,
    /\b(cess|arret|stopp)e[rz] (tou(s|t|te|tes) )?(vos |ces |cet |l')?(envois?|(e-?)?mails?|messages?|sollicit)/,
  ),
  [/\b(cessez|arretez|stoppez|merci d'arreter) (de|vos|ces|les)\b/, 0.9],
  [/\bne (m'|nous |me )?(ecrivez|contactez|envoyez|sollicitez) (plus|pas)\b/, 0.9],
  [/\brgpd\b.{0,80}\b(supprim|effac|retir|oppos)|\b(supprim|effac|oppos)\w*\b.{0,80}\brgpd\b/, 0.9],
  [/\b(abmelden|austragen|abbestellen|abmeldung)\b|\btragen sie (mich|uns|meine) .{0,40}\baus\b/, 0.95],
  [/\bkeine (weiteren |weitere )?(e-?mails?|mails?|nachrichten|werbung|zuschriften)\b/, 0.9],
  [
    /\b(loschen|entfernen|streichen) sie ((bitte|umgehend|sofort|alle) ){0,2}(mich|uns|meine|unsere|diese)/,
    0.9,
  ],
  [
    /\b(nehmen|streichen|entfernen) .{0,20}\b(mich|uns) .{0,20}\baus (dem|ihrem|der|ihrer) \w*(verteiler|liste)/,
    0.9,
  ],
  any(
    0.9,
    /\b(nicht (mehr|langer|weiter)) (\w+ ){0,3}(anschreiben|kontaktieren|schreiben|mailen|angeschrieben)/,
  ),
  any(
    0.9,
    /\b(kontaktieren|schreiben|mailen|belastigen) sie (mich|mir|uns) (\w+ ){0,2}nicht (mehr|weiter|langer)\b/,
    /\bunterlassen sie .{0,40}\b(kontakt|e-?mail|werb|zusend|nachricht)/,
  ),
  any(
    0.95,
    /\b(dar(me|nos)|dame|denme|den|darse) (\w+ )?de baja\b/,
    /\bdesuscrib/,
    /\bcancelar (la |mi )?suscripcion/,
  ),
  any(
    0.9,
    /\bno (\w+ ){0,3}(enviar|envien|envie|mandar|manden|recibir|contactar|contacten|escriban)\w*( mas| correos)\b/,
  ),
  any(
    0.9,
    /\bno (quiero|queremos|deseo|deseamos) recibir (\w+ ){0,2}(publicidad|correos|e-?mails?)\b/,
    /\bno (quiero|queremos|deseo|deseamos) que (me|nos) (\w+ )?(escrib|contact|envi)/,
    /\bno vuelvan? a (escribir|contactar|enviar|mandar)/,
    /\b(borrar|eliminar|quitar)(me|nos) de\b/,
  ),
  [/\bno (me|nos) (escrib|contact|envi|mand)\w+/, 0.85],
  any(0.9, /\b(elimin|borr|quit)(ar|en|e|enme|eme)( \w+)? (mis|mi|nuestros|me|datos|de (la|su) lista)/),
  any(0.95, /\b(cancella(mi|temi|rmi)|rimuov(imi|etemi|ermi)|toglietemi|disiscri)/),
  any(
    0.9,
    /\b(cancellate|rimuovete|eliminate|cancellare|eliminare) (i miei|i nostri|il mio|la mia|miei|questo)/,
  ),
  any(
    0.9,
    /\bnon (\w+ ){0,3}(invi|mand|scriv|contatt|ricever)\w+( \w+){0,2} (piu|altre|mail|email)\b/,
    /\bnon (scrivetemi|contattatemi|inviatemi|mandatemi)\b/,
    /\bsmett(a|ete|etela) di (scriver|inviar|mandar|contattar)/,
  ),
  ...dutch,
  ...portuguese,
  ...polish,
  any(
    0.9,
    /\bleave (me|us) alone\b/,
    /\blaissez[- ](moi|nous) tranquilles?\b/,
    /\b(lassen sie|lasst|lass) (mich|uns) (\w+ )?in ruhe\b/,
  ),
]

/** A message of hardly more than the word. */
export const wordAlone = /^(gdpr|rgpd|dsgvo)[^\w?]*$/

/** The same, also where a name stands below it. */
export const stopAlone = oneOf(
  /^(arret|arretez|stopp|basta|(bitte )?loschen( sie)?)( svp)?[^\w?]*$/,
  /^(stop pub( svp)?|(pls|plz) (stop|unsub|remove)|dar de baja)\W*$/,
  /^(please |merci |bitte |por favor |per favore )?stop\W*(\w+\W*){0,1}$/,
  /^(please )?(remove|unsub|baja|rimuovi)\W*(please|thanks|thank you|por favor|gracias|per favore|grazie)?\W*$/,
)

/** All that some mail programs write for somebody who follows a link to leave: a subject, and nothing under it. */
export const leaveAlone = oneOf(
  /^(unsubscribe|optout|desinscription|desabonnement|desinscrire|desabonner|abmeldung|abmelden|abbestellen)\W*$/,
  /^(baja|cancelar suscripcion|disiscrizione|cancellazione|cancellami|uitschrijven|afmelden|descadastrar)\W*$/,
)
