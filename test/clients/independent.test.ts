// Clients that others wrote for the provider: what they send arrives, with nothing changed but the address.
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { createRequire } from 'node:module'
import { describe, test } from 'node:test'
import { createEmailClient } from '@opencoredev/email-sdk'
import { brevo } from '@opencoredev/email-sdk/brevo'
import nodemailer from 'nodemailer'
import { makeApp } from '../app.ts'
import { until } from '../until.ts'

const app = await makeApp({ deliver: true, env: { POSTHORN_RATE_LIMIT_FACTOR: '100' } })
const load = createRequire(import.meta.url)

async function captured(to: string) {
  const found = await until(async () => {
    const { body } = await app.call('GET', `/api/v1/sandbox/messages?to=${to}`)
    return body.data[0]
  }, `a message to ${to}`)
  const raw = await app.call('GET', `/api/v1/sandbox/messages/${found.id}/raw`)
  return { ...found, raw: raw.text }
}

async function tagsOf(to: string) {
  const { body } = await app.call('GET', `/v3/smtp/emails?email=${to}`)
  return body.transactionalEmails[0].tags
}

function transport() {
  const Transport = load('nodemailer-brevo-transport')
  const made = new Transport({ apiKey: app.key })
  made.apiURL = new URL('/v3/smtp/email', app.url)
  made.request = request
  return nodemailer.createTransport(made)
}

describe('nodemailer-brevo-transport', () => {
  test('sends copies, an answer address, a header, tags and files', async () => {
    const { messageId } = await transport().sendMail({
      from: 'Shop <shop@example.com>',
      to: 'Ann <ann@example.com>, bob@example.com',
      cc: 'Copy <cc@example.com>',
      bcc: 'bcc@example.com',
      replyTo: 'Help <help@example.com>',
      subject: 'Order 7',
      text: 'On its way.',
      html: '<p>On its way.</p>',
      headers: { 'X-Order': '7' },
      tags: ['orders', 'shop'],
      attachments: [
        { filename: 'note.txt', content: 'a note' },
        { filename: 'dot.png', content: Buffer.from([137, 80, 78, 71]) },
      ],
    } as object)
    assert.match(messageId, /^<.+@.+>$/)
    const { raw } = await captured('ann@example.com')
    for (const line of [
      /^From: "?Shop"? <shop@example\.com>\r$/m,
      /^To: .*ann@example\.com.*bob@example\.com/m,
      /^Cc: .*cc@example\.com/m,
      /^Reply-To: .*help@example\.com/m,
      /^X-Order: 7\r$/m,
      /filename="?note\.txt/,
      /filename="?dot\.png/,
    ])
      assert.match(raw, line)
    assert.doesNotMatch(raw, /bcc@example\.com/i)
    for (const to of ['bob@example.com', 'cc@example.com', 'bcc@example.com']) await captured(to)
    assert.deepEqual(await tagsOf('ann@example.com'), ['orders', 'shop'])
  })

  test('sends a template with its values', async () => {
    const { body: template } = await app.call('POST', '/v3/smtp/templates', {
      body: {
        templateName: 'Receipt',
        subject: 'Order {{ params.order }}',
        sender: { email: 'shop@example.com' },
        htmlContent: '<p>Order {{ params.order }}</p>',
        isActive: true,
      },
    })
    await transport().sendMail({
      from: 'shop@example.com',
      to: 'template@example.com',
      templateId: template.id,
      params: { order: 9 },
    } as object)
    const { subject, html } = await captured('template@example.com')
    assert.deepEqual([subject, html.includes('Order 9')], ['Order 9', true])
  })

  test('says what was refused', async () => {
    const sent = transport().sendMail({ from: 'shop@example.com', to: 'a@b.example', subject: 'Empty' })
    const message =
      'Either of htmlContent or textContent is required (code: missing_parameter, statusCode: 400)'
    await assert.rejects(sent, { message })
  })
})

const client = () =>
  createEmailClient({ adapters: [brevo({ apiKey: app.key, baseUrl: app.url })], retry: { maxAttempts: 1 } })

describe('@opencoredev/email-sdk', () => {
  test('sends copies, an answer address, a header, a tag and a file', async () => {
    const result = await client().send({
      from: 'Shop <shop@example.com>',
      to: ['Eve <eve@example.com>'],
      cc: 'eve-copy@example.com',
      bcc: ['eve-blind@example.com'],
      replyTo: 'help@example.com',
      subject: 'Order 8',
      text: 'On its way.',
      html: '<p>On its way.</p>',
      headers: [{ name: 'X-Order', value: '8' }],
      tags: [{ name: 'kind', value: 'orders' }],
      attachments: [{ filename: 'note.txt', content: 'a note', contentType: 'text/plain' }],
    })
    assert.match(result.id ?? '', /^<.+@.+>$/)
    const { raw } = await captured('eve@example.com')
    for (const line of [
      /^Cc: .*eve-copy@/m,
      /^Reply-To: .*help@/m,
      /^X-Order: 8\r$/m,
      /filename="?note\.txt/,
    ])
      assert.match(raw, line)
    for (const to of ['eve-copy@example.com', 'eve-blind@example.com']) await captured(to)
    assert.deepEqual(await tagsOf('eve@example.com'), ['orders'])
  })

  test('is told what was refused', async () => {
    const sent = client().send({ from: 'nobody', to: 'a@b.example', subject: 'Hello', text: 'Hello' })
    await assert.rejects(sent, ({ cause }: Error) => /400: valid sender email required/.test(String(cause)))
  })
})
