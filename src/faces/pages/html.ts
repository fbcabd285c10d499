// One look for all pages that people see who are nobody's customers: no script, nothing from outside, one style.
import { hash } from 'node:crypto'

/** Text that is HTML already. */
export type Html = { text: string }

type Part = Html | Html[] | string | number | false

/** What is not HTML already is escaped; false is left out. */
export function html(strings: TemplateStringsArray, ...parts: Part[]): Html {
  return { text: strings.reduce((text, string, at) => text + written(parts[at - 1] ?? '') + string) }
}

function written(part: Part): string {
  if (part === false) return ''
  if (Array.isArray(part)) return part.map(written).join('')
  if (typeof part === 'object') return part.text
  return String(part)
    .toWellFormed()
    .replaceAll(/[&<>"']/g, (found) => `&#${found.charCodeAt(0)};`)
}

const style = `
:root { color-scheme: light dark; --back: #f3f4f6; --card: #ffffff; --text: #1c2430; --soft: #566070; --line: #d5dae1;
  --act: #1d4ed8; --act-over: #1e40af; --on-act: #ffffff; --good: #166534; --good-back: #ecfdf3; --focus: #1d4ed8 }
@media (prefers-color-scheme: dark) {
  :root { --back: #11151b; --card: #1b212a; --text: #eef1f5; --soft: #aab4c2; --line: #3a4452;
    --act: #93b4ff; --act-over: #b3caff; --on-act: #0d1526; --good: #86efac; --good-back: #12291b; --focus: #93b4ff }
}
*, *::before { box-sizing: border-box }
html { -webkit-text-size-adjust: 100% }
body { margin: 0; min-height: 100vh; min-height: 100dvh; display: flex; align-items: center; justify-content: center;
  padding: 1.5rem 1rem; background: var(--back); color: var(--text);
  font: 1rem/1.55 system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, sans-serif }
main { width: 100%; max-width: 30rem; padding: 2rem; background: var(--card); border: 1px solid var(--line);
  border-radius: .75rem; overflow-wrap: anywhere }
@media (max-width: 30rem) { main { padding: 1.5rem 1.25rem } }
main > :last-child { margin-bottom: 0 }
h1 { margin: 0 0 .75rem; font-size: 1.5rem; line-height: 1.25; text-wrap: balance }
p { margin: 0 0 1rem }
form { margin: 1.5rem 0 0 }
fieldset { margin: 0 0 1.25rem; padding: 0; border: 0; min-width: 0 }
legend { padding: 0; margin: 0 0 .5rem; font-weight: 600 }
label { display: flex; gap: .75rem; align-items: flex-start; padding: .75rem; border: 1px solid var(--line);
  border-radius: .5rem; cursor: pointer }
label + label { margin-top: .5rem }
label small { display: block; color: var(--soft); font-size: .875rem }
input { flex: none; width: 1.25rem; height: 1.25rem; margin: .15rem 0 0; accent-color: var(--act) }
button { display: block; width: 100%; min-height: 3rem; padding: .65rem 1.25rem; font: inherit; font-weight: 600;
  color: var(--on-act); background: var(--act); border: 1px solid var(--act); border-radius: .5rem; cursor: pointer }
button:hover { background: var(--act-over); border-color: var(--act-over) }
button.quiet { color: var(--act); background: transparent }
button.quiet:hover { color: var(--act-over); text-decoration: underline }
a { color: var(--act); text-underline-offset: .15em }
:focus-visible { outline: 3px solid var(--focus); outline-offset: 2px }
label:focus-within { border-color: var(--focus) }
.done { padding: .75rem 1rem; color: var(--good); background: var(--good-back); border: 1px solid currentColor;
  border-radius: .5rem }
.address { display: inline-block; max-width: 100% }
.soft { color: var(--soft) }
.more { margin: 1.25rem 0 0; text-align: center }
@media (forced-colors: active) { main, label, button { border: 1px solid } }
`

const policyFor = (targets: string) =>
  [
    "default-src 'none'",
    `style-src 'sha256-${hash('sha256', style, 'base64')}'`,
    `form-action ${targets}`,
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ].join('; ')

/** For a form whose answer leads elsewhere: browsers hold each step of that way against the policy of the form. */
export const leadingAway = { 'content-security-policy': policyFor("'self' http: https:") }

export type PageAnswer = { status: number; headers: Record<string, string>; body: string }

export function page(status: number, { lang, title, main }: { lang: string; title: string; main: Html }) {
  const { text } = html`<!doctype html>
<html lang="${lang}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex, nofollow">
<title>${title}</title>
<style>${{ text: style }}</style>
</head>
<body>
<main>
${main}
</main>
</body>
</html>
`
  return {
    status,
    headers: { ...closedHeaders, 'content-type': 'text/html; charset=utf-8', 'content-language': lang },
    body: text,
  }
}

export const closedHeaders = {
  'content-security-policy': policyFor("'self'"),
  'cache-control': 'no-store, private',
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
  'x-robots-tag': 'noindex, nofollow',
  vary: 'accept-language',
}
