// How people and their programs say that they are not there; folded, in the same languages.
import { oneOf } from './fold.ts'
import { any, type Phrase } from './phrases.ts'

export const absenceSubject = oneOf(
  /reponse automatique/,
  /absence du bureau/,
  /absen(t|ce)/,
  /automatic reply/,
  /auto[- ]?reply/,
  /out of (the )?office/,
  /\booo\b/,
  /automatische antwort/,
  /abwesenheit/,
  /respuesta automatica/,
  /fuera de (la )?oficina/,
  /risposta automatica/,
  /fuori (sede|ufficio)/,
  // What programs write above it in languages of which no more is read.
  /^(automatisch antwoord|afwezig|resposta automatica|ausencia|automatyczna odpowiedz|nieobecnosc)/,
  /^(autosvar|automatisk svar|fravaer|franvaro|automaattinen vastaus|automaticka odpoved|raspuns automat)/,
  /^(自動応答|自动答复|自動回覆|автоответ|автоматическии ответ|αυτοματη απαντηση|otomatik yan)/,
)

export const absence: Phrase[] = [
  any(
    0.8,
    /\b(je suis|je serai|nous sommes|actuellement) (\w+ ){0,2}(absent|en (conge|deplacement|vacances)|indispo)/,
  ),
  any(
    0.7,
    /\ben conges?\b/,
    /\bde retour (le|au|lundi|mardi|mercredi|jeudi|vendredi)/,
    /\bconge (de )?(maternite|paternite|parental)/,
    /\bmon retour\b/,
    /\ben mon absence\b/,
  ),
  any(
    0.8,
    /\b(i am|i'm|i will be|i'll be|currently|we are) (\w+ ){0,2}(away|out of (the )?office|travel)/,
    /\bon (annual |maternity |parental |sick )?leave\b|\bon (vacation|holiday|pto)\b/,
  ),
  any(
    0.7,
    /\bout of (the )?office\b/,
    /\bback (in the office )?(on|in)\b/,
    /\blimited access\b/,
    /\bi (will )?return on\b/,
    /\bupon my return\b/,
    /\bin my absence\b/,
    /\bon (annual|maternity|parental) leave\b/,
  ),
  any(
    0.75,
    /\b(bin|nicht) (\w+ ){0,5}(im buro|erreichbar|abwesend|im urlaub)/,
    /\bim urlaub\b/,
    /\bab dem .{1,25}\bwieder\b/,
    /\bwieder (\w+ ){0,3}(erreichbar|im buro|fur sie da)/,
    /\babwesend\b/,
    /\bin elternzeit\b/,
  ),
  any(
    0.75,
    /\b(estoy|estare|me encuentro) (\w+ ){0,2}(fuera|de vacaciones|ausente|de baja|de viaje)/,
    /\bde vacaciones\b/,
    /\b(regreso|regresare|vuelvo|volvere) (el|a)\b/,
    /\bfuera de (la )?oficina\b/,
  ),
  any(
    0.75,
    /\b(sono|saro) (\w+ ){0,2}(in ferie|assente|fuori (ufficio|sede)|in vacanza|in maternita)/,
    /\bin ferie\b/,
    /\b(rientro|rientrero|tornero|saro di ritorno) (il|a|dal|in)\b/,
    /\bassente (dal|fino)/,
  ),
  any(
    0.4,
    /\ben cas d'urgence\b/,
    /\bin urgent cases\b/,
    /\bfor urgent matters\b/,
    /\bin dringenden fallen\b/,
    /\ben caso de urgencia\b/,
    /\bin caso di urgenza\b/,
  ),
]

/** Nobody but a machine writes these of their own accord; an answer to one begins with Re. */
export const absenceSubjectAlone =
  /^(absence du bureau|out of (the )?office|ooo|abwesenheitsnotiz|fuera de (la )?oficina|fuori (sede|ufficio))\b/

/** Says to be away, and not merely that they were or might be. */
export const isAway = oneOf(
  /\b(je suis|je serai|nous sommes|actuellement) (\w+ ){0,3}(absente?s?|en (conges?|deplacement|vacances|arret))\b/,
  /\b(i am|i'm|i will be|i'll be|currently) (\w+ ){0,2}(away|out of (the )?office|travelling|traveling)\b/,
  /\b(i am|i'm|i will be|i'll be|currently) (\w+ ){0,2}on (\w+ )?(leave|vacation|holiday|pto)\b/,
  /\bbin (\S+ ){0,6}(nicht im buro|im urlaub|abwesend|in elternzeit|nicht erreichbar|ausser haus)\b/,
  /\b(estoy|estare|me encuentro) (\w+ ){0,2}(fuera|de vacaciones|ausente|de baja|de viaje)\b/,
  /\b(sono|saro) (\w+ ){0,2}(in ferie|assente|fuori (ufficio|sede)|in vacanza|in maternita)\b/,
)

/** And until when, or whom to turn to meanwhile. */
export const isAwayUntil = oneOf(
  /\bjusqu'(au|a)\b|\bde retour\b|\bmon retour\b|\ben cas d'urgence\b|\ben mon absence\b/,
  /\bback (tomorrow|(next |this )?((mon|tues|wednes|thurs|fri)day|week))\b/,
  /\buntil\b|\bback (on|in)\b|\breturn(ing)? on\b|\blimited access\b|\burgent\b|\bin my absence\b/,
  /\bbis (zum|einschliesslich|\d)|\bab dem\b|\bwieder (erreichbar|im buro)\b|\bdringend/,
  /\bhasta\b|\bregres(o|are)\b|\bv(uelvo|olvere)\b|\burgencia\b/,
  /\bfino a|\brientr(o|ero)\b|\btornero\b|\burgenz/,
)

/** Somebody who is talking to us, whatever else they say. */
export const talks = oneOf(
  /\?|\blet'?s\b|\blet us\b|\bhappy to\b|\blooking forward\b|\bwe (can|could)\b|\bcall me\b|interess|\binterest/,
  /\brappelez[- ]|\brecontactez[- ]|\breparl|\b(on|nous) (pourra|pourrons|peut|pouvons|en discut)/,
  /\bmelden sie sich\b|\bsprechen wir\b|\bgerne?\b|\bhablamos\b|\bsentiamoci\b|\bci sentiamo\b/,
)

/** In the words of a person, who may also say that something else is no longer so. */
export const leftForSure = oneOf(
  /\b(i am|i'm|is) no longer (with|at|employed (by|at)|working (for|at)|part of) (the|our) (company|firm|organi)/,
  /\b(has|have|i) left (the|our) (company|firm|organi[sz]ation)\b/,
  /\b(ne fai[st] plus partie|n'est plus|ne suis plus) (\w+ ){0,3}(l'|la |notre |nos )(entreprise|societe|effectif)/,
  /\b(a|ai) quitte (la societe|l'entreprise|notre (societe|entreprise))\b/,
  /\b(ist|bin) nicht mehr (\w+ ){0,3}(unternehmen|firma|uns) (tatig|beschaftigt)\b|\b(unternehmen|firma) verlassen\b/,
  /\bya no (trabaj[ao]|forma parte) (aqui|en (la|esta|nuestra) empresa|con nosotros|de (la|nuestra) empresa)\b/,
  /\bnon lavor[ao] piu (qui|con noi|in azienda|per (noi|l'azienda))\b|\bha lasciato l'azienda\b/,
)

/** The address is still read, the person is gone. */
export const left = oneOf(
  /\b(no longer|not) (work(s|ing)?|with|employed|part of|at) (\w+ ){0,3}(company|firm|organi[sz]ation|here|us|team)/,
  /\b(has|have) left (the|our) (company|firm|organi[sz]ation)/,
  /\bne (travaille|fais|fait) plus (\w+ ){0,2}(partie|pour|chez|dans)/,
  /\bn'est plus (\w+ ){0,2}(dans|au sein|en poste|chez|employe)\b/,
  /\ba quitte (la societe|l'entreprise|notre|ses fonctions)/,
  /\b(nicht mehr) (\w+ ){0,4}(tatig|beschaftigt|im unternehmen|bei uns)/,
  /\b(unternehmen|firma) verlassen\b/,
  /\bya no (trabaj|form|labor)\w*/,
  /\bha dejado (la empresa|de trabajar)/,
  /\bnon (lavora|fa|collabora) piu\b/,
  /\bha lasciato (l'azienda|la societa)/,
)
