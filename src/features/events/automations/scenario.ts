// The scenario for abandoned carts of accounts that have declared none: three reminders, in the language of
// the contact where we have it.
import type { Language } from '../../contacts/unsubscribe/leave-words.ts'
import type { Step } from './queries.ts'
import { words } from './scenario-words.ts'

const minutes = [60, 24 * 60, 72 * 60] as const

/** Minutes from the call to each reminder. One that starts later than usual keeps the others at their distance. */
export function scenarioOffsets(first: number = minutes[0]): number[] {
  const later = Math.max(0, first - minutes[0])
  return [first, minutes[1] + later, minutes[2] + later]
}

export function scenarioSteps(language: Language): Step[] {
  return words[language].reminders.map(({ subject, intro }) => ({
    delay_minutes: 0,
    subject,
    html: htmlOf(language, intro),
  }))
}

function htmlOf(language: Language, intro: string): string {
  const { hello, total, button } = words[language]
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
<td>{% if item.price or item.price == 0 %}{{ item.price }} {{ event.cart.currency }}{% endif %}</td>
</tr>
{% endfor %}</table>
{% if event.cart.total or event.cart.total == 0 -%}
<p>${total}: <strong>{{ event.cart.total }} {{ event.cart.currency }}</strong></p>{% endif %}
{% if event.cart.url %}<p><a href="{{ event.cart.url }}">${button}</a></p>{% endif %}
</body>
</html>`
}
