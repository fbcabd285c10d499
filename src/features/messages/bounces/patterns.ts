import type { BounceClass } from './classes.ts'

export type TextRule = [BounceClass, RegExp]

// Texts are matched in lower case, without accents, without addresses, with single spaces.

/** Says so plainly that it outranks whatever code the server put before it. */
export const decisiveTexts: TextRule[] = [
  [
    'blocked',
    /\b(?:dns)?(?:rbl|bl)s?\b.{0,40}\blist|\bdnsbl\b|\brbl\b|spamhaus|spamcop|barracudacentral|uceprotect/,
  ],
  [
    'blocked',
    /black[- ]?list|block[- ]?list|blocked using|(?<!not )listed (?:at|by|in|on) |senderscore|cloudmark/,
  ],
  ['blocked', /adresse ip source bloquee|poor reputation|bad reputation|low reputation|\bip reputation/],
  [
    'mailbox_full',
    /over (?:the |its )?-?quota|overquota|quota (?:is )?exceeded|exceed(?:s|ed|ing)?.{0,30}quota|quotaexceeded/,
  ],
  [
    'mailbox_full',
    /mailbox (?:\S+ )?(?:is |was )?(?:too )?full|mailbox has exceeded|mail ?box.{0,20}size limit/,
  ],
  [
    'mailbox_full',
    /exceeded (?:its |the )?storage|insufficient (?:disk|mailbox|storage)|out of storage|inbox is full/,
  ],
  ['mailbox_full', /boite.{0,40}(?:pleine|saturee)|quota (?:depasse|atteint)|disk quota/],
  ['mailbox_full', /postfach (?:ist )?(?:voll|uberfullt)|buzon (?:esta )?lleno|casella (?:\S+ )?piena/],
  [
    'sender',
    /sender (?:address |domain |mail |email )?(?:\S+ )?(?:rejected|denied|refused|invalid|unknown|not )/,
  ],
  [
    'sender',
    /sender(?:'s)? (?:address|domain).{0,40}(?:does not|doesn't|could not|cannot|not exist|not found)/,
  ],
  ['sender', /(?:invalid|unknown|bad) sender|sender verif|emetteur invalide|return path|mail from not owned/],
  ['sender', /domain of (?:the )?sender|(?:envelope|mail) ?-?from (?:address|domain)/],
  [
    'sender',
    /\bfrom:? (?:address|domain)|sender(?:'s)? (?:account|mailbox)|(?:domain|user) for (?:the )?sender/,
  ],
  ['sender', /call(?:out|back) .{0,40}\bsender\b/],
  // Whoever asked for too many that do not exist is refused those that do.
  ['rate', /too many (?:\S+ ){0,2}(?:recipients|rcpts|users|addresses|mailboxes)|directory harvest/],
  ['blocked', /no longer accepts? (?:e-?)?mails? from/],
  ['blocked', /\b(?:helo|ehlo):? (?:command|name|host|domain)|reverse dns|\bptr\b/],
  ['blocked', /cannot find your (?:hostname|reverse)|\byour (?:mail |smtp )?(?:host|server)(?:'s)? ?name/],
  [
    'auth',
    /\bdmarc\b|\bdkim\b|\bspf\b|unauthenticated (?:email|mail)|authentication level|not authenticated.{0,20}spf/,
  ],
]

/** Taken where the code is missing or says nothing certain. */
export const deadTexts: TextRule[] = [
  [
    'inactive',
    /(?:account|mailbox|user|recipient|address).{0,40}\b(?:disabled|inactive|deactivated|discontinued)/,
  ],
  ['inactive', /(?:disabled|inactive|deactivated|closed) (?:account|mailbox|user|recipient)/],
  ['inactive', /mailbox.{0,30}(?:blocked|closed) due to inactivity/],
  [
    'inactive',
    /(?:account|mailbox|user|recipient|address|person|employee).{0,40}no longer|compte.{0,20}(?:desactive|ferme)/,
  ],
  ['inactive', /boite.{0,30}(?:desactivee|fermee|supprimee)/],
  [
    'unknown_host',
    /\bnxdomain\b|(?:host|domain)(?: or domain)?(?: name)? (?:is )?(?:not found|unknown|does not exist)/,
  ],
  [
    'unknown_host',
    /(?:unknown|no such|non-?existent) (?:host|domain)|domain (?:doesn't|does not) exist|host not found/,
  ],
  ['no_mail_host', /null ?mx|domain (?:does not|doesn't|never) accepts? (?:e-?)?mail/],
  ['bad_address', /not a valid rfc-?5321|bad (?:recipient|destination|mailbox) (?:mailbox )?address syntax/],
  ['moved', /(?:mailbox|user|recipient|address) (?:has )?moved|user not local|new (?:e-?mail )?address is/],
  [
    'unknown_user',
    /(?:user|recipient|mailbox|account|address|alias)(?: \S+)? (?:is )?(?:unknown|not (?:found|known))/,
  ],
  [
    'unknown_user',
    /(?:unknown|no such|non-?existent|invalid) (?:local )?(?:user|recipient|mailbox|account|alias|person)/,
  ],
  [
    'unknown_user',
    /no such (?:address|e-?mail)|unknown (?:or illegal )?(?:alias|address|e-?mail|local[- ]part)/,
  ],
  ['unknown_user', /(?:account|user|mailbox|recipient|address|e-?mail).{0,60}(?:does ?n[o']t|do not) exist/],
  ['unknown_user', /(?:user|recipient|mailbox|account)(?: \S+)? (?:unavailable|doesn't exist|not exist)/],
  [
    'unknown_user',
    /doesn't have an? \S* ?account|no (?:mailbox|user|account|recipient)s? (?:here|by that name|found)/,
  ],
  [
    'unknown_user',
    /not a valid (?:mailbox|recipient|user)|recipientnotfound|recipient not found|not our customer/,
  ],
  [
    'unknown_user',
    /not listed in (?:domino|public)|user (?:is )?not (?:registered|listed)|no existe|no mailbox here/,
  ],
  [
    'unknown_user',
    /destinataire (?:\S+ )?(?:inconnu|invalide|inexistant)|utilisateur (?:\S+ )?(?:inconnu|inexistant)/,
  ],
  [
    'unknown_user',
    /(?:adresse|compte|boite|utilisateur|destinataire).{0,60}(?:n'?existe pas|inexistante?|inconnue?)/,
  ],
  ['unknown_user', /(?:empfanger|benutzer) unbekannt|unbekannter (?:empfanger|benutzer)/],
  [
    'unknown_user',
    /(?:usuario|destinatario) (?:desconocido|inexistente)|(?:utente|destinatario) sconosciuto/,
  ],
]

/** Words that are about us or about the message; weaker than a code that names the address. */
export const faultTexts: TextRule[] = [
  [
    'content',
    /virus|malware|attachment|infected|executable|content (?:was )?reject|message content|prohibited content/,
  ],
  ['size', /too (?:large|big)|(?:message|mail) size|size (?:limit|exceed)|exceeds.{0,30}size|taille limite/],
  ['greylisted', /gr[ea]y-?list|deferred.{0,30}first (?:time|contact)/],
  [
    'rate',
    /rate.?limit|too many|throttl|slow down|unusual rate|exceeded the rate|trop de connexions|\[tss?\d\d\]/,
  ],
  [
    'rate',
    /receiving (?:mail|email|messages?).{0,20}(?:too quickly|at a rate)|connection limit|unexpected volume/,
  ],
  [
    'blocked',
    /spam|unsolicited|\bblocked\b|banned|bloque|reputation|mail rejete|service refuse|abus(?:e|ive)|phish/,
  ],
  [
    'policy',
    /policy|relay|access denied|not (?:allowed|permitted|authori[sz]ed)|permission|restricted|prohibited/,
  ],
  [
    'network',
    /timed? ?-?out|unreachable|connection (?:refused|reset|lost|closed)|no route|expired|servfail|dns error/,
  ],
]
