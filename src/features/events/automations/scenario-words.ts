// What the built-in reminders of a cart say, in each of their languages.
import type { Language } from '../../contacts/unsubscribe/leave-words.ts'

type Reminder = { subject: string; intro: string }

export type Words = {
  hello: string
  total: string
  button: string
  reminders: [Reminder, Reminder, Reminder]
}

export const words: Record<Language, Words> = {
  en: {
    hello: 'Hello',
    total: 'Total',
    button: 'Back to your cart',
    reminders: [
      { subject: 'You left something in your cart', intro: 'Your cart is waiting for you:' },
      { subject: 'Your cart is still here', intro: 'We have kept your cart for you:' },
      { subject: 'Last reminder about your cart', intro: 'This is the last time we write about it:' },
    ],
  },
  fr: {
    hello: 'Bonjour',
    total: 'Total',
    button: 'Reprendre votre panier',
    reminders: [
      { subject: 'Vous avez oublié quelque chose', intro: 'Votre panier vous attend :' },
      { subject: 'Votre panier est toujours là', intro: 'Nous avons gardé votre panier :' },
      { subject: 'Dernier rappel pour votre panier', intro: 'Voici notre dernier message à ce sujet :' },
    ],
  },
  de: {
    hello: 'Guten Tag',
    total: 'Summe',
    button: 'Zurück zum Warenkorb',
    reminders: [
      { subject: 'In Ihrem Warenkorb liegt noch etwas', intro: 'Ihr Warenkorb wartet auf Sie:' },
      { subject: 'Ihr Warenkorb ist noch da', intro: 'Wir haben Ihren Warenkorb für Sie aufgehoben:' },
      { subject: 'Letzte Erinnerung an Ihren Warenkorb', intro: 'Dies ist unsere letzte Nachricht dazu:' },
    ],
  },
  es: {
    hello: 'Hola',
    total: 'Total',
    button: 'Volver a su cesta',
    reminders: [
      { subject: 'Ha dejado algo en su cesta', intro: 'Su cesta le espera:' },
      { subject: 'Su cesta sigue aquí', intro: 'Le hemos guardado su cesta:' },
      { subject: 'Último recordatorio de su cesta', intro: 'Este es nuestro último mensaje al respecto:' },
    ],
  },
  it: {
    hello: 'Buongiorno',
    total: 'Totale',
    button: 'Torna al carrello',
    reminders: [
      { subject: 'Ha lasciato qualcosa nel carrello', intro: 'Il Suo carrello La aspetta:' },
      { subject: 'Il Suo carrello è ancora qui', intro: 'Abbiamo conservato il Suo carrello:' },
      {
        subject: 'Ultimo promemoria per il Suo carrello',
        intro: 'Questo è il nostro ultimo messaggio al riguardo:',
      },
    ],
  },
  pt: {
    hello: 'Olá',
    total: 'Total',
    button: 'Voltar ao seu carrinho',
    reminders: [
      { subject: 'Deixou algo no seu carrinho', intro: 'O seu carrinho espera por si:' },
      { subject: 'O seu carrinho ainda está aqui', intro: 'Guardámos o seu carrinho:' },
      {
        subject: 'Último lembrete sobre o seu carrinho',
        intro: 'Esta é a nossa última mensagem sobre o assunto:',
      },
    ],
  },
  nl: {
    hello: 'Hallo',
    total: 'Totaal',
    button: 'Terug naar uw winkelwagen',
    reminders: [
      { subject: 'Er ligt nog iets in uw winkelwagen', intro: 'Uw winkelwagen wacht op u:' },
      { subject: 'Uw winkelwagen staat er nog', intro: 'We hebben uw winkelwagen voor u bewaard:' },
      { subject: 'Laatste herinnering aan uw winkelwagen', intro: 'Dit is ons laatste bericht hierover:' },
    ],
  },
  pl: {
    hello: 'Dzień dobry',
    total: 'Razem',
    button: 'Wróć do koszyka',
    reminders: [
      { subject: 'Coś zostało w Twoim koszyku', intro: 'Twój koszyk czeka na Ciebie:' },
      { subject: 'Twój koszyk wciąż tu jest', intro: 'Zachowaliśmy dla Ciebie Twój koszyk:' },
      { subject: 'Ostatnie przypomnienie o koszyku', intro: 'To nasza ostatnia wiadomość w tej sprawie:' },
    ],
  },
}
