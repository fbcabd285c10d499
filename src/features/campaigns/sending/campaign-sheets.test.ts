import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { composeMail } from '../../messages/mime/compose.ts'
import { environmentOf } from '../../messages/templates/compile.ts'
import { rewriteHtml } from '../../messages/tracking/rewrite.ts'
import { campaignLinks } from '../links.ts'
import { type CampaignContent, compileCampaign, renderCampaign, scopeOf } from '../render-campaign.ts'
import { campaignSheets } from './campaign-sheets.ts'

const baseUrl = 'https://mail.example'
const messageId = '019a7e0c-5a5e-7c3e-8d4e-0123456789ab'
const of = { accountId: '3', campaignId: '12', email: 'anna@example.com', messageId }
const links = campaignLinks({ keys: [Buffer.alloc(32, 7)], baseUrl }, of)
const anna = {
  email: 'anna@example.com',
  attributes: { FIRSTNAME: 'Zoë <&> "Co"', CITY: 'From Rome ' },
  links,
  now: new Date(0),
}

const plain: CampaignContent = {
  account_id: '3',
  id: '12',
  subject: 'Hello',
  preview_text: 'News for {{ contact.FIRSTNAME }}',
  html:
    '[DEFAULT_HEADER]<p>{{ contact.FIRSTNAME }} of {CITY}</p><a href="https://shop.example/?a=1&amp;b=2">shop</a>' +
    '<a href="{{ unsubscribe }}">Out</a>',
  text: 'Hello {{ contact.FIRSTNAME }}, {{ params.none | default: "all" }}\n{{ unsubscribe_url }}',
  sender: { email: 'news@shop.example', name: 'Shop' },
  reply_to: null,
  to_field: '',
  params: {},
  ab_test: null,
  extras: {},
}

const rewriting = {
  click: (url: string) => `${baseUrl}/t/${Buffer.from(url).toString('base64url')}`,
  pixelUrl: `${baseUrl}/t/p.gif`,
  except: (url: string) => url.startsWith(`${baseUrl}/`),
}

const envelope = {
  from: plain.sender,
  to: [{ email: 'anna@example.com' }],
  subject: 'Hello',
  headers: [],
  attachments: [],
  messageId: `<${messageId}@shop.example>`,
  date: new Date(0),
}

/** As a mail program reads it. */
function readBack(bodies: Pick<Parameters<typeof composeMail>[0], 'html' | 'text'>): string {
  return composeMail({ ...envelope, ...bodies })
    .toString('latin1')
    .replace(/quoted-printable|7bit/g, '')
    .replaceAll('=\r\n', '')
    .replace(/=([\dA-F]{2})/g, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
}

describe('the prepared bodies of a campaign', () => {
  const cases: Record<string, Partial<CampaignContent>> = {
    'with header, preview and links': {},
    'with marks for statistics': { extras: { utmCampaign: 'Sale & more', utmTerm: 'x' } },
    'with a footer of its own': { extras: { footer: 'Leave {here}', header: 'Read {here}' } },
  }
  for (const [name, change] of Object.entries(cases))
    test(`are what rendering makes, ${name}`, async () => {
      const compiled = compileCampaign({ ...plain, ...change }, ['CITY'])
      const sheets = campaignSheets(compiled)
      assert.ok(sheets)
      const environment = environmentOf(scopeOf(compiled.campaign, anna))
      const { html, text } = await renderCampaign(compiled, anna)
      const filled = { html: sheets.html(environment, rewriting), text: sheets.text(environment, {}) }
      assert.equal(readBack(filled), readBack({ html: rewriteHtml(html, rewriting), text }))
    })

  test('are not made where a body gets its link at the end, is missing, or holds conditions', () => {
    const others: Partial<CampaignContent>[] = [
      { html: '<p>Hello</p>' },
      { text: 'Hello' },
      { text: null },
      { html: '{% if contact.FIRSTNAME %}x{% endif %}<a href="{{ unsubscribe }}">Out</a>' },
      { html: '<a href="https://shop.example/{{ contact.CITY }}">x</a><a href="{{ unsubscribe }}">Out</a>' },
    ]
    for (const change of others)
      assert.equal(campaignSheets(compileCampaign({ ...plain, ...change }, [])), undefined)
  })
})
