import assert from 'node:assert/strict'
import { test } from 'node:test'
import { textFromHtml } from '../../messages/mime/text-from-html.ts'
import { campaignLinks } from '../links.ts'
import { type CampaignContent, compileCampaign, renderCampaign } from '../render-campaign.ts'
import { compileWithText } from './compile-with-text.ts'

const of = {
  accountId: '3',
  campaignId: '12',
  email: 'anna@example.com',
  messageId: '019a7e0c-5a5e-7c3e-8d4e-0123456789ab',
}
const links = campaignLinks({ keys: [Buffer.alloc(32, 7)], baseUrl: 'https://mail.example' }, of)
const anna = {
  email: of.email,
  attributes: { FIRSTNAME: 'Anna', URL: 'https://shop.example/a' },
  links,
  now: new Date(0),
}

const content = (html: string, utmCampaign?: string): CampaignContent => ({
  account_id: '3',
  id: '12',
  subject: 'Hello',
  preview_text: '',
  html,
  text: null,
  sender: { email: 'news@shop.example' },
  reply_to: null,
  to_field: '',
  params: {},
  ab_test: null,
  extras: utmCampaign ? { utmCampaign } : {},
})

test('the text that is made once for all is the text that is made from the HTML of one', async () => {
  const shop = '<p>{{ contact.FIRSTNAME }}: <a href="https://shop.example/?a=1">shop</a></p>'
  const out = '<p><a href="{{ unsubscribe }}">Out</a></p>'
  const own = '<p><a href="{{ contact.URL }}">yours</a></p>'
  const bodies = [shop, shop + out, `<html><body>${shop}</body></html>`, shop + own]
  for (const campaign of bodies.flatMap((html) => [content(html), content(html, 'Spring sale')])) {
    const one = await renderCampaign(compileCampaign(campaign, []), anna)
    const { text, html } = await renderCampaign(compileWithText(campaign, []), anna)
    assert.equal(text ?? textFromHtml(html), textFromHtml(one.html))
    const german = { ...anna, attributes: { ...anna.attributes, LANGUAGE: 'de' } }
    const [own, made] = [
      await renderCampaign(compileCampaign(campaign, []), german),
      await renderCampaign(compileWithText(campaign, []), german),
    ]
    assert.equal(made.text ?? textFromHtml(made.html), textFromHtml(own.html))
    assert.equal(textFromHtml(own.html).includes('Abbestellen'), own.isFooterAdded)
    assert.equal(
      textFromHtml(one.html).includes('utm_campaign=Spring%20sale'),
      'utmCampaign' in campaign.extras,
    )
  }
})
