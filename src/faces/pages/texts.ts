// What the pages say, in the reader's language where we have it.

const en = {
  lang: 'en',
  thisSender: 'this sender',
  question: (from: string) => `Unsubscribe from ${from}?`,
  questionList: (list: string) => `Unsubscribe from “${list}”?`,
  stopAll: (email: string, from: string) => `${email} will get no more emails from ${from}.`,
  stopList: (email: string, from: string) => `${email} will be taken off this list of ${from}.`,
  unsubscribe: 'Unsubscribe',
  done: 'You are unsubscribed',
  doneAll: (email: string, from: string) => `${email} gets no more emails from ${from}.`,
  doneList: (email: string, list: string, from: string) =>
    `${email} is no longer on the list “${list}” of ${from}.`,
  doneListGone: (email: string, from: string) => `${email} is not on this list of ${from}.`,
  mistake: 'Was this a mistake?',
  undo: 'Subscribe me again',
  back: 'You are subscribed again',
  backAll: (email: string, from: string) => `${email} gets emails from ${from} again.`,
  backList: (email: string, list: string, from: string) =>
    `${email} is on the list “${list}” of ${from} again.`,
  choose: 'Choose which emails you get',
  preferences: 'Your email preferences',
  preferencesOf: (email: string, from: string) => `Choose which emails ${from} sends to ${email}.`,
  lists: 'Your lists',
  noLists: (from: string) => `You are on no list of ${from}.`,
  nothing: 'Unsubscribe from everything',
  nothingMeans: 'No more emails from this sender, whatever is chosen above.',
  blocked: (from: string) => `Your address is blocked. Only ${from} can change that.`,
  erased: (from: string) => `Your data was erased, and ${from} can no longer write to you.`,
  save: 'Save my choice',
  saved: 'Your choice is saved.',
  confirm: 'Confirm your subscription',
  confirmMeans: (email: string, from: string) => `${email} will get emails from ${from}.`,
  confirmButton: 'Yes, subscribe me',
  confirmNot: 'If this was not you, close this page: nothing happens.',
  confirmed: 'Your subscription is confirmed',
  confirmedMeans: (email: string, from: string) => `${email} gets emails from ${from}.`,
  goOn: 'Continue',
  expired: 'This link has expired',
  expiredWhy: 'Please fill in the form again to get a new one.',
  missing: 'This link does not work',
  missingWhy: 'It may be incomplete. Please open it again from the email, or copy the whole address.',
  test: 'This link is part of a test',
  testWhy: 'In the email that is sent, it leads to the page of each reader. Nothing was changed.',
  failed: 'That did not work',
  failedWhy: 'Nothing was changed. Please go back and try again in a moment.',
}

export type Texts = typeof en

const de = (name: string) => (/^[aeiouàâäéèêëîïôöùûü]/i.test(name) ? `d’${name}` : `de ${name}`)

const fr: Texts = {
  lang: 'fr',
  thisSender: 'cet expéditeur',
  question: (from) => `Se désabonner ${de(from)}\u00a0?`,
  questionList: (list) => `Se désabonner de «\u00a0${list}\u00a0»\u00a0?`,
  stopAll: (email, from) => `${email} ne recevra plus d’emails ${de(from)}.`,
  stopList: (email, from) => `L’adresse ${email} sera retirée de cette liste ${de(from)}.`,
  unsubscribe: 'Me désabonner',
  done: 'Vous ne recevrez plus ces emails',
  doneAll: (email, from) => `${email} ne reçoit plus d’emails ${de(from)}.`,
  doneList: (email, list, from) =>
    `${email} ne fait plus partie de la liste «\u00a0${list}\u00a0» ${de(from)}.`,
  doneListGone: (email, from) => `${email} ne fait pas partie de cette liste ${de(from)}.`,
  mistake: 'C’était une erreur\u00a0?',
  undo: 'Me réabonner',
  back: 'Votre abonnement est rétabli',
  backAll: (email, from) => `${email} reçoit de nouveau les emails ${de(from)}.`,
  backList: (email, list, from) =>
    `${email} fait de nouveau partie de la liste «\u00a0${list}\u00a0» ${de(from)}.`,
  choose: 'Choisir les emails que vous recevez',
  preferences: 'Vos préférences d’email',
  preferencesOf: (email, from) => `Choisissez les emails que ${from} envoie à ${email}.`,
  lists: 'Vos listes',
  noLists: (from) => `Vous ne faites partie d’aucune liste ${de(from)}.`,
  nothing: 'Me désabonner de tout',
  nothingMeans: 'Plus aucun email de cet expéditeur, quels que soient les choix ci-dessus.',
  blocked: (from) => `Votre adresse est bloquée. Seul ${from} peut changer cela.`,
  erased: (from) => `Vos données ont été effacées et ${from} ne peut plus vous écrire.`,
  save: 'Enregistrer mon choix',
  saved: 'Votre choix est enregistré.',
  confirm: 'Confirmez votre inscription',
  confirmMeans: (email, from) => `${email} recevra les emails ${de(from)}.`,
  confirmButton: 'Oui, je m’inscris',
  confirmNot: 'Si ce n’était pas vous, fermez cette page\u00a0: rien ne se passe.',
  confirmed: 'Votre inscription est confirmée',
  confirmedMeans: (email, from) => `${email} reçoit les emails ${de(from)}.`,
  goOn: 'Continuer',
  expired: 'Ce lien a expiré',
  expiredWhy: 'Remplissez de nouveau le formulaire pour en recevoir un autre.',
  missing: 'Ce lien ne fonctionne pas',
  test: 'Ce lien fait partie d’un test',
  testWhy: 'Dans l’email envoyé, il mène à la page de chaque lecteur. Rien n’a été modifié.',
  missingWhy: 'Il est peut-être incomplet. Rouvrez-le depuis l’email, ou copiez l’adresse entière.',
  failed: 'Cela n’a pas fonctionné',
  failedWhy: 'Rien n’a été changé. Revenez en arrière et réessayez dans un instant.',
}

const known: Record<string, Texts> = { en, fr }

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
