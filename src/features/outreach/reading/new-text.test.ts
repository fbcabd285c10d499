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

test('a line of nothing but dashes costs no more than another', () => {
  const before = process.cpuUsage()
  assert.equal(cutQuoted('-'.repeat(50_000)).length, 50_000)
  assert.ok(process.cpuUsage(before).user < 2_000_000)
})
