import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { composeMail } from '../messages/mime/compose.ts'
import { mirrorUrl, readMirrorToken } from '../messages/mirror-link.ts'
import { campaignLinks } from './links.ts'
import { type CampaignContent, compileCampaign, renderCampaign } from './render-campaign.ts'

const keys = [Buffer.alloc(32, 7)]
const messageId = '019a7e0c-5a5e-7c3e-8d4e-0123456789ab'
const of = { accountId: '3', campaignId: '12', email: 'anna@example.com', messageId }
const links = campaignLinks({ keys, baseUrl: 'https://mail.example' }, of)
const anna = {
  email: 'anna@example.com',
  attributes: { FIRSTNAME: 'Anna & Co', LASTNAME: 'Ö' },
  links,
  now: new Date('2026-03-05T14:07:09Z'),
}

const plain: CampaignContent = {
  account_id: '3',
  id: '12',
  subject: 'Hello {{ contact.FIRSTNAME }}',
  preview_text: '',
  html: '<html><body><p>{{ contact.FIRSTNAME }} {{ params.sale }}</p><a href="{{ unsubscribe }}">Out</a></body></html>',
  text: null,
  sender: { email: 'news@shop.example', name: 'Shop' },
  reply_to: null,
  to_field: '',
  params: { sale: 'now' },
  ab_test: null,
  extras: {},
}

const render = (
  change: Partial<CampaignContent>,
  recipient: Partial<typeof anna> & { variant?: 'A' | 'B' } = {},
) => renderCampaign(compileCampaign({ ...plain, ...change }, ['CITY']), { ...anna, ...recipient })

describe('a campaign for one recipient', () => {
  test('is merged with attributes, params and links', async () => {
    const found = await render({})
    assert.equal(found.subject, 'Hello Anna & Co')
    assert.equal(
      found.html,
      `<html><body><p>Anna &amp; Co now</p><a href="${links.unsubscribe}">Out</a></body></html>`,
    )
    assert.equal(found.isFooterAdded, false)
    assert.equal(found.text, undefined)
    assert.deepEqual(found.from, { email: 'news@shop.example', name: 'Shop' })
    assert.deepEqual(found.to, { email: 'anna@example.com' })
  })

  test('knows the moment of the rendering', async () => {
    const { html } = await render({ html: '<p>{{ time_now|date:"02/01/2006" }}</p>{{ unsubscribe }}' })
    assert.match(html, /^<p>05\/03\/2026<\/p>/)
  })

  test('gets a footer where the only way out is in a comment', async () => {
    for (const html of [
      '<p>Hi</p><!-- {{ unsubscribe }} -->',
      '<!--[if mso]>{{ unsubscribe }}<![endif]--><p>Hi</p>',
    ]) {
      const found = await render({ html })
      assert.ok(found.isFooterAdded, html)
      assert.ok(found.html.includes(`<a href="${links.unsubscribe}"`), html)
    }
    const ended = await render({ html: '<body><p>Hi</p></body></html><!-- </body> -->' })
    assert.match(ended.html, /<\/a><\/p><\/body><\/html><!-- <\/body> -->$/)
    const html = '<!--[if !mso]><!--><a href="{{ unsubscribe }}">Out</a><!--<![endif]-->'
    assert.equal((await render({ html })).isFooterAdded, false)
  })

  test('has the values of older placeholders, and leaves other braces and per cents alone', async () => {
    const html =
      '<style>.a{COLOR}@media{p{width:50%}}</style><p>{FNAME} %LASTNAME% {CITY}%CITY% {TOWN} %TOWN% {fname}</p>' +
      '<a href="{{ unsubscribe }}">100%EMAIL% {{ contact.FIRSTNAME }}</a>'
    const found = await render({ subject: '{FIRSTNAME}, %FNAME%', html, text: 'Hi {LNAME} {X}', extras: {} })
    assert.equal(found.subject, 'Anna & Co, Anna & Co')
    assert.equal(
      found.html,
      '<style>.a{COLOR}@media{p{width:50%}}</style><p>Anna &amp; Co Ö  {TOWN} %TOWN% {fname}</p>' +
        `<a href="${links.unsubscribe}">100%EMAIL% Anna &amp; Co</a>`,
    )
    assert.match(found.text ?? '', /^Hi Ö \{X\}/)
  })

  test('carries the headers of bulk mail, and can be composed', async () => {
    const found = await renderCampaign(compileCampaign(plain, []), { ...anna, listId: '9' })
    assert.deepEqual(found.headers, [
      ['List-Unsubscribe', `<${links.unsubscribe}>`],
      ['List-Unsubscribe-Post', 'List-Unsubscribe=One-Click'],
      ['List-Id', '<list-9.shop.example>'],
      ['Feedback-ID', '12:campaign:3:posthorn'],
      ['X-Auto-Response-Suppress', 'OOF, AutoReply'],
    ])
    const mail = composeMail({
      ...found,
      to: [found.to],
      attachments: [],
      messageId: '<a@b.example>',
      date: new Date('2026-11-15T09:00:00Z'),
    })
    const head = mail.toString('latin1').split('\r\n')
    const field = head.find((line) => line.startsWith('List-Unsubscribe:'))
    assert.equal(field, `List-Unsubscribe: <${links.unsubscribe}>`, 'on one line')
  })

  test('gets a link to unsubscribe where the template gives none', async () => {
    const without = await render({ html: '<body><p>Hi</p></body>', text: 'Hi' })
    assert.match(
      without.html,
      /<p>Hi<\/p><p style=[^>]+><a href="https:\/\/mail\.example\/u\/[^"]+"[^>]*>Unsubscribe/,
    )
    assert.ok(without.html.endsWith('</body>'))
    assert.equal(without.text, `Hi\n\n${links.unsubscribe}\n`)
    assert.equal(without.isFooterAdded, true)
    const unfulfilled = '{% if contact.NEVER %}{{ unsubscribe }}{% endif %}'
    assert.equal((await render({ html: unfulfilled })).isFooterAdded, true)
    for (const html of ['{{ preferences_url }}', '{{ update_profile }}', '[UNSUBSCRIBE]', '[DEFAULT_FOOTER]'])
      assert.equal((await render({ html })).isFooterAdded, false, html)
  })

  test('calls that link by a word of the recipient’s language', async () => {
    for (const [LANGUAGE, word] of [
      ['de', 'Abbestellen'],
      ['fr_FR', 'Se désabonner'],
      ['ja', 'Unsubscribe'],
    ]) {
      const attributes = { ...anna.attributes, LANGUAGE }
      const { html } = await render({ html: '<p>Hi</p>' }, { attributes })
      assert.ok(html.endsWith(`>${word}</a></p>`), html)
    }
  })

  test('has preview line, header and footer in their places', async () => {
    const { html } = await render({
      preview_text: 'A < B & {{ contact.FIRSTNAME }}',
      html: '<html><BODY class="x"><p>Hi</p></body></html>',
      extras: { header: 'Not readable? {here}', footer: 'Leave {here}' },
    })
    assert.equal(
      html,
      '<html><BODY class="x"><div style="display:none;max-height:0;overflow:hidden">' +
        'A &lt; B &amp; Anna &amp; Co</div>' +
        `Not readable? <a href="${links.mirror}">here</a><p>Hi</p>` +
        `Leave <a href="${links.unsubscribe}">here</a></body></html>`,
    )
  })

  test('names its recipient by attributes, in both notations, on one line', async () => {
    const name = async (to_field: string) => (await render({ to_field })).to.name
    assert.equal(await name('{{ contact.FIRSTNAME }} {{ contact.LASTNAME }}'), 'Anna & Co Ö')
    assert.equal(await name('{FNAME} {LASTNAME}'), 'Anna & Co Ö')
    const odd = await render(
      { to_field: '{FIRSTNAME}' },
      { attributes: { FIRSTNAME: 'A\r\nBcc: x@y.example', LASTNAME: '' } },
    )
    assert.equal(odd.to.name, 'A Bcc: x@y.example')
    assert.equal(odd.subject, 'Hello A Bcc: x@y.example')
  })

  test('has the subject of its half of an A/B test', async () => {
    const ab_test = { subjectA: 'One', subjectB: 'Two {{ contact.LASTNAME }}', splitRule: 50 }
    assert.equal((await render({ ab_test })).subject, 'One')
    assert.equal((await render({ ab_test }, { variant: 'B' })).subject, 'Two Ö')
  })

  test('has its links marked for web statistics, but not those of the service', async () => {
    const { html } = await render({
      html:
        '<a href="https://shop.example/?a=1&amp;utm_source=mine#top">x</a>' +
        '<a href="https://shop.example">y</a><a href="{{ unsubscribe }}">z</a>',
      extras: { utmCampaign: 'Spring sale', utmContent: 'c' },
    })
    const rest = 'utm_medium=EMAIL&amp;utm_campaign=Spring%20sale&amp;utm_content=c&amp;utm_id=12'
    assert.equal(
      html,
      `<a href="https://shop.example/?a=1&amp;utm_source=mine&amp;${rest}#top">x</a>` +
        `<a href="https://shop.example?utm_source=Posthorn&amp;${rest}">y</a>` +
        `<a href="${links.unsubscribe}">z</a>`,
    )
  })
})

test('a link to a message as a page is read back, and no other', () => {
  const token = (url: string) => url.slice(url.lastIndexOf('/') + 1)
  const made = token(links.mirror)
  assert.deepEqual(readMirrorToken(keys, made), { accountId: '3', campaignId: '12', messageId })
  const shared = token(mirrorUrl({ keys, baseUrl: '' }, { accountId: '3', campaignId: '12' }))
  assert.deepEqual(readMirrorToken(keys, shared), { accountId: '3', campaignId: '12' })
  const changed = `${made.slice(0, -1)}${made.endsWith('A') ? 'B' : 'A'}`
  const foreign = [changed, '', 'x', `${made}=`, token(links.unsubscribe), made.slice(0, 21)]
  for (const bad of foreign) assert.equal(readMirrorToken(keys, bad), undefined, bad)
  assert.equal(readMirrorToken([Buffer.alloc(32, 8)], made), undefined)
})
