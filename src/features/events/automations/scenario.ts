// The scenario for abandoned carts of accounts that have declared none: three reminders, in two languages.
import type { Step } from './queries.ts'

type Words = {
  subject: string
  hello: string
  intro: string
  total: string
  button: string
}

export type Language = 'en' | 'fr'

export function languageOf(attributes: Record<string, unknown> | null): Language {
  return String(attributes?.LANGUAGE ?? '')
    .toLowerCase()
    .startsWith('fr')
    ? 'fr'
    : 'en'
}

const english = { hello: 'Hello', total: 'Total', button: 'Back to your cart' }
const french = { hello: 'Bonjour', total: 'Total', button: 'Reprendre votre panier' }

const reminders: Record<Language, Words[]> = {
  en: [
    { ...english, subject: 'You left something in your cart', intro: 'Your cart is waiting for you:' },
    { ...english, subject: 'Your cart is still here', intro: 'We have kept your cart for you:' },
    {
      ...english,
      subject: 'Last reminder about your cart',
      intro: 'This is the last time we write about it:',
    },
  ],
  fr: [
    { ...french, subject: 'Vous avez oublié quelque chose', intro: 'Votre panier vous attend :' },
    { ...french, subject: 'Votre panier est toujours là', intro: 'Nous avons gardé votre panier :' },
    {
      ...french,
      subject: 'Dernier rappel pour votre panier',
      intro: 'Voici notre dernier message à ce sujet :',
    },
  ],
}

const minutes = [60, 24 * 60, 72 * 60] as const

/** Minutes from the call to each reminder. One that starts later than usual keeps the others at their distance. */
export function scenarioOffsets(first: number = minutes[0]): number[] {
  const later = Math.max(0, first - minutes[0])
  return [first, minutes[1] + later, minutes[2] + later]
}

export function scenarioSteps(language: Language): Step[] {
  return reminders[language].map((words) => ({
    delay_minutes: 0,
    subject: words.subject,
    html: htmlOf(language, words),
  }))
}

function htmlOf(language: Language, { hello, intro, total, button }: Words): string {
  return `<!doctype html>
<html lang="${language}">
<body style="margin:0;padding:24px;font-family:Arial,sans-serif;font-size:16px;line-height:1.5;color:#222">
<p>${hello}{% if contact.FIRSTNAME %} {{ contact.FIRSTNAME }}{% endif %},</p>
<p>${intro}</p>
<table role="presentation" cellpadding="8" style="border-collapse:collapse">
{% for item in event.cart.items %}<tr>
<td>{% if item.image_url %}<img src="{{ item.image_url }}" alt="" width="80">{% endif %}</td>
<td>{% if item.url %}<a href="{{ item.url }}">{{ item.name }}</a>{% else %}{{ item.name }}{% endif %}</td>
<td>{% if item.quantity %}× {{ item.quantity }}{% endif %}</td>
<td>{% if item.price %}{{ item.price }} {{ event.cart.currency }}{% endif %}</td>
</tr>
{% endfor %}</table>
{% if event.cart.total %}<p>${total}: <strong>{{ event.cart.total }} {{ event.cart.currency }}</strong></p>{% endif %}
{% if event.cart.url %}<p><a href="{{ event.cart.url }}">${button}</a></p>{% endif %}
</body>
</html>`
}
