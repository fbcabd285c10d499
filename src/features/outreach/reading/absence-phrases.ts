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

/** The address is still read, the person is gone. */
export const left = oneOf(
  /\b(no longer|not) (work(s|ing)?|with|employed|part of|at) (\w+ ){0,3}(company|firm|organi[sz]ation|here|us|team)/,
  /\b(has|have) left (the|our) (company|firm|organi[sz]ation)/,
  /\bne (travaille|fais|fait) plus (\w+ ){0,2}(partie|pour|chez|dans)/,
  /\ba quitte (la societe|l'entreprise|notre|ses fonctions)/,
  /\b(nicht mehr) (\w+ ){0,4}(tatig|beschaftigt|im unternehmen|bei uns)/,
  /\b(unternehmen|firma) verlassen\b/,
  /\bya no (trabaj|form|labor)\w*/,
  /\bha dejado (la empresa|de trabajar)/,
  /\bnon (lavora|fa|collabora) piu\b/,
  /\bha lasciato (l'azienda|la societa)/,
)
