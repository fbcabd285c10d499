// What people and their programs write, in French, English, German, Spanish and Italian. Looked for in folded text:
// lower case, no accents. The weight is how far one phrase alone goes; two weak ones make a stronger one.
import { oneOf } from './fold.ts'

export type Phrase = [pattern: RegExp, weight: number]

export const any = (weight: number, ...patterns: RegExp[]): Phrase => [oneOf(...patterns), weight]

// The words between a negation and what it negates; after "but" something else begins.
const gap = String.raw`((?!but |mais |aber |pero |ma )[\w']+ ){0,6}`
const distant = [
  String.raw`\b(don't|do not|doesn't|does not) (think|believe|feel|see) ${gap}interest`,
  String.raw`\b(isn't|is not|aren't|are not|wasn't) (something|anything|one) ${gap}interest`,
  String.raw`\bdoubt ${gap}interest`,
  String.raw`\bne (pense|crois|pensons|croyons) pas ${gap}interess`,
  String.raw`\b(glaube|denke|glauben|denken) nicht,? dass ${gap}interess`,
  String.raw`\bno (creo|creemos|pienso) ${gap}interes`,
  String.raw`\bnon (credo|crediamo|penso) ${gap}interess`,
].join('|')

export const refusal: Phrase[] = [
  [new RegExp(distant), 0.9],
  [/^(no|nope|non|nein)\W*$/, 0.7],
  any(
    0.9,
    /\b(not|n't|no longer|never) (\w+ ){0,3}interest(ed)?\b/,
    /\bno interest\b/,
    /\bnot for us\b|\bpas pour nous\b|\bnichts? fur uns\b/,
    /\bnot a (good )?fit\b/,
  ),
  [/\bno,? (thanks|thank you|thx)\b|\bthanks,? but no\b|\bno thank you\b/, 0.85],
  any(
    0.75,
    /\b(no|not|don't|do not) (\w+ ){0,3}(need|needs|require)\b/,
    /\bwe('ll| will) pass\b/,
    /\bi('ll| will) pass\b/,
  ),
  [/\balready (have|use|using|work with|working with|equipped|covered|got)\b/, 0.7],
  [/\bnot (really |very )?relevant (for|to) (us|me)\b|\bpasst (\w+ ){0,3}nicht zu uns\b/, 0.8],
  [/\bpas (de|le) budget\b|\bpas le (bon )?moment\b|\bpas pertinent pour nous\b/, 0.75],
  [/\bplease (do not|don't) call\b|\bnot at this (time|stage)\b|\bnot right now\b|\bno budget\b/, 0.7],
  any(
    0.9,
    /\b(pas|plus|aucunement|nullement|guere) (\w+ ){0,3}interess/,
    /\baucun interet\b/,
    /\bpas d'interet\b/,
    /\bne (m'|nous )interesse (pas|plus)\b/,
  ),
  [/\bnon,? (merci|je vous remercie)\b|\bsans facon\b|\bmerci,? mais non\b/, 0.85],
  any(
    0.75,
    /\b(pas|aucun|plus) (\w+ )?(de |d'|d un )?besoin/,
    /\bdeja (equipe|pourvu|un prestataire|un fournisseur|une solution|ce qu'il)/,
  ),
  [/\bne (donn\w+|souhait\w+) pas (suite|\w+)|\bpas (de|notre) priorite|\bpas d'actualite\b/, 0.75],
  [/\b(kein(en|e|erlei)?|nicht) (\w+ ){0,2}interess|\bkein bedarf\b|\bkeinen bedarf\b/, 0.9],
  any(
    0.85,
    /\bnein,? (danke|vielen dank)\b/,
    /\bdanke,? nein\b/,
    /\bbereits (versorgt|einen (anbieter|partner|dienstleister)|im einsatz)/,
  ),
  any(
    0.9,
    /\bno (\w+ ){0,2}(interesa|interesad[oa]s?)\b/,
    /\bno tengo interes\b/,
    /\bno tenemos interes\b/,
    /\bsin interes\b/,
  ),
  [/\bno,? (muchas )?gracias\b|\bgracias,? pero no\b|\bya (tenemos|tengo|contamos|trabajamos) /, 0.8],
  [/\bno (\w+ )?(necesit|precis)\w+/, 0.75],
  [/\bnon (\w+ ){0,3}(interess\w*)\b|\bnessun interesse\b|\bnon fa per (noi|me)\b/, 0.9],
  [/\bno,? grazie\b|\bgrazie,? ma no\b|\bnon (\w+ )?(abbiamo|ho) (\w+ )?bisogno\b|\babbiamo gia\b/, 0.8],
]

/** Somebody else is the one to ask: for a person to read. */
export const referral = oneOf(
  /\b(wrong|not the right|not the best) (person|contact)\b/,
  /\bpas la bonne (personne|interlocut)/,
  /\bpas le bon (contact|interlocut)/,
  /\bnicht (der|die) (richtige|zustandige)/,
  /\bno soy la persona (adecuada|indicada|correcta)/,
  /\bnon sono la persona (giusta|corretta)/,
)

/** Taken out before words of interest are looked for. */
export const negated = [
  new RegExp(`(${distant})\\w*`, 'g'),
  /\b(not|n't|no|never|without|cannot) (\w+ ){0,2}(interested|available|calls?|demo|meeting|pric\w+|book)\b/g,
  /\b(pas|plus|ni|sans|aucun|aucune) (\w+ ){0,2}(interess\w*|disponible\w*|appel\w*|rendez-vous|tarif\w*)/g,
  /\b(kein|keine|keinen|nicht) (\w+ ){0,2}(interess\w*|termin\w*|preis\w*|ruckruf)/g,
  /\b(no|sin|ni) (\w+ ){0,2}(interes\w*|llamada\w*|precio\w*|agendar)/g,
  /\b(non|senza|nessun\w*) (\w+ ){0,2}(interess\w*|chiamata\w*|prezz\w*|appuntamento)/g,
]

export const interested: Phrase[] = [
  any(
    0.7,
    /^(yes,? please|oui,? (volontiers|avec plaisir)|ja,? gerne?|si,? (por favor|volentieri))\b/,
    /\bhow much (does|do|is|would)\b|\bwhat (is|are) your (price|pricing|rate)/,
    /\bcombien (ca|cela) coute|\bquels? (est|sont) (le|les|vos|votre) (prix|tarif)/,
    /\bwas kostet\b|\bcuanto cuesta|\bquanto costa/,
  ),
  any(
    0.85,
    /\b(i'?m|i am|we are|we're|very|would be|could be|might be|yes,?) (\w+ ){0,2}interested\b/,
    /\bsounds (very |really |quite )?(good|great|interesting)\b/,
    /\b(i|we|would|i'd|we'd|am|are|i'm|we're) (like|love|want|keen|curious|eager) to (know|learn|hear|see) more\b/,
    /^(interested|interessiert|interesado|interesada|interessato|interessata)\W*$/,
  ),
  any(
    0.8,
    /\blet'?s (talk|chat|meet|schedule|book|set up|have)\b/,
    /\btell me more\b/,
    /\bhappy to (talk|chat|meet|discuss|learn)/,
  ),
  any(
    0.7,
    /\b(send|share) (me|us|over|your)\b/,
    /\b(book|schedule|arrange|set up) (a|an|some) (\w+ )?(call|meeting|demo|time|slot)/,
  ),
  any(
    0.4,
    /\binterested\b/,
    /\bpric(e|es|ing)\b/,
    /\bdemo\b/,
    /\bquote\b/,
    /\bcall me\b/,
    /\bgive me a call\b/,
    /\b(a|quick) call\b/,
  ),
  any(
    0.85,
    /\b(suis|sommes|serais|serions|serait|oui,?|tres) (\w+ ){0,2}interess/,
    /\bca m'interesse/,
    /\bcela (m'|nous )interesse/,
    /\bm'interesse\b/,
  ),
  any(
    0.75,
    /\b((pouvez|pourriez)-vous|merci de|n'hesitez pas a) (?!ne )(\w+ ){0,2}(envoyer|r?appeler|transmettre|proposer)/,
    /\ben savoir plus\b/,
    /\brappelez[- ](moi|nous)\b/,
    /\benvoyez[- ](moi|nous) (\w+ ){0,3}(tarif|devis|prix|doc|plaquette|brochure|proposition|offre|info|catalogue)/,
    /\bquand (pouvez|etes|seriez)[- ]vous (\w+ ){0,2}(disponible|libre)/,
    /\b(disponibles?|disponibilites?|creneaux?) pour (un|une|en) (\w+ )?(appel|echange|visio|rendez|rdv|discuter)/,
  ),
  any(
    0.4,
    /\binteresse/,
    /\b(un |petit )appel\b/,
    /\benvoyez[- ]/,
    /\btarifs?\b/,
    /\brendez-vous\b/,
    /\brdv\b/,
    /\bdevis\b/,
    /\bdisponible\b/,
    /\bquand (pouvez|etes|seriez)/,
  ),
  any(
    0.85,
    /\b(habe|haben|hatte|hatten|grosses|ja,?) (\w+ ){0,2}interesse\b/,
    /\b(bin|sind|ware|waren) (\w+ ){0,2}interessiert\b/,
    /\bklingt (gut|interessant|spannend)\b/,
  ),
  any(
    0.75,
    /\b(rufen sie|schicken sie|senden sie) (mich|mir|uns)\b/,
    /\bgerne? (\w+ ){0,3}(telefonieren|sprechen|kennenlernen|termin)/,
    /\bbitte um (\w+ ){0,2}(ruckruf|angebot|termin|preis|unterlagen|info)/,
  ),
  [/\binteresse\b|\bgerne?\b|\btermin\w*\b|\bpreis\w*\b|\bangebot\b|\bruckruf\b/, 0.4],
  any(
    0.85,
    /\b(me|nos) interesa(ria)?\b/,
    /\b(estoy|estamos|estaria) (\w+ ){0,2}interesad/,
    /\bsuena (bien|interesante)\b/,
  ),
  any(
    0.75,
    /\b(envie(me|nos)|envien(me|nos)|mande(me|nos)|llame(me|nos)|llamen(me|nos)|podria(n|s)? (enviar|llamar)\w*)\b/,
  ),
  [/\bllamada\b|\bprecios?\b|\bagendar\b|\bpresupuesto\b|\breunion\b|\binteresad[oa]s?\b/, 0.4],
  any(
    0.85,
    /\b(mi|ci) (interessa|interesserebbe)\b/,
    /\b(sono|siamo|sarei|saremmo) (\w+ ){0,2}interessat/,
    /\bsembra interessante\b/,
  ),
  any(
    0.75,
    /\b(inviatemi|mandatemi|mi mandi|mi invii|chiamatemi|mi chiami|richiamatemi|fissiamo|sentiamoci)\b/,
  ),
  [/\bchiamata\b|\bprezz[oi]\b|\bappuntamento\b|\bpreventivo\b|\binteressat[oaie]\b/, 0.4],
]
