import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { cutQuoted, newText } from './new-text.ts'

const quoted: [string, string, string][] = [
  [
    'above the quote',
    'No thanks.\n\nOn Mon, 2 Nov 2026, Shop <a@b.example> wrote:\n> Unsubscribe here',
    'No thanks.',
  ],
  ['below it', 'On Mon, 2 Nov 2026, Shop wrote:\n> Are you interested?\n\nNo thanks.', 'No thanks.'],
  [
    'French',
    'Non merci\n\nLe lun. 2 nov. 2026 à 10:00, Shop <a@b.example> a écrit :\n\nBonjour',
    'Non merci',
  ],
  ['over two lines', 'Ja\n\nAm Mo., 2. Nov. 2026 um 10:00 Uhr schrieb Shop\n<a@b.example>:\n> Hallo', 'Ja'],
  ['Spanish', 'No\n\nEl lun, 2 nov 2026, Shop (<a@b.example>) escribió:\n> Hola', 'No'],
  ['Italian', 'No\n\nIl giorno lun 2 nov 2026 Shop <a@b.example> ha scritto:\n> Ciao', 'No'],
  ['Outlook', 'Ok\n\nFrom: Shop <a@b.example>\nSent: Monday\nTo: me\nSubject: Hello\n\nUnsubscribe', 'Ok'],
  ['Outlook, French', 'Ok\r\n\r\nDe : Shop\r\nEnvoyé : lundi\r\nÀ : moi\r\nObjet : Bonjour\r\n', 'Ok'],
  ['a line', 'Ok\n________________________________\nVon: Shop', 'Ok'],
  ['an original message', 'Ok\n-----Original Message-----\nHello', 'Ok'],
  ['a signature', 'Ok\n-- \nAnna\nPlease unsubscribe', 'Ok'],
  ['a telephone', 'Ok\n\nSent from my iPhone', 'Ok'],
  ['Dutch', 'Nee\n\nOp do 19 nov. 2026 om 09:00 schreef Shop <a@b.example>:\n\nHallo', 'Nee'],
  ['Polish', 'Nie\n\nczw., 19 lis 2026 o 09:00 Shop <a@b.example> napisał(a):\n\nStop', 'Nie'],
  ['Chinese', '不\n\nShop <a@b.example> 于2026年11月19日周四 09:00写道：\n\nStop', '不'],
  ['Outlook, Dutch', 'Nee\n\nVan: Shop\nVerzonden: donderdag\nAan: mij\nOnderwerp: x\n\nStop', 'Nee'],
  ['Outlook, Swedish', 'Nej\n\nFrån: Shop\nSkickat: torsdag\nTill: mig\nÄmne: x\n\nStop', 'Nej'],
  ['a forward', 'Ja\n\n-------- Weitergeleitete Nachricht --------\nBetreff: x\n\nStop', 'Ja'],
  ['an address', 'Write to anna@b.example:\nshe decides', 'Write to anna@b.example:\nshe decides'],
  ['nothing quoted', 'From: what I see, it is fine.\nThanks', 'From: what I see, it is fine.\nThanks'],
]

describe('what others wrote is left out', () => {
  for (const [name, text, expected] of quoted) test(name, () => assert.equal(cutQuoted(text), expected))
})

test('of HTML as well', () => {
  const html =
    '<div>No thanks</div><div class="gmail_quote">On Monday <blockquote>Unsubscribe</blockquote></div>'
  assert.equal(newText({ text: '', html }), 'No thanks')
})

test('of HTML that a telephone wrote', () => {
  const quote = '<div id="mail-editor-reference-message-container"><b>Von:</b> Shop<br>Unsubscribe</div>'
  assert.equal(newText({ text: '', html: `<div>No thanks</div>${quote}` }), 'No thanks')
})

test('a line of nothing but dashes costs no more than another', () => {
  const before = process.cpuUsage()
  assert.equal(cutQuoted('-'.repeat(50_000)).length, 50_000)
  assert.ok(process.cpuUsage(before).user < 2_000_000)
})
