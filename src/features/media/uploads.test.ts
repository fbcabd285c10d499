// How an image comes in, and what it may be called.
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { row, text } from '../../kernel/row.ts'
import { sql } from '../../kernel/sql.ts'
import { makeMediaApp } from './fixtures/app.ts'
import { make } from './fixtures/images.ts'

const app = await makeMediaApp()
const png = await make('png')
const content = png.toString('base64')

describe('uploading', () => {
  test('works by form and by JSON, and gives the same', async () => {
    const byForm = await app.upload(png, { name: 'Logo.png' })
    const byJson = await app.call('POST', '/v3/media', { body: { name: 'Logo.png', content } })
    assert.deepEqual([byForm.status, byJson.status], [201, 201], byForm.text + byJson.text)
    const fields = ['uuid', 'url', 'name', 'contentType', 'width', 'height', 'size', 'createdAt']
    for (const { body } of [byForm, byJson]) assert.deepEqual(Object.keys(body), fields)
    const alike = ({ name, contentType, width, height, size }: Record<string, unknown>) => [
      name,
      contentType,
      width,
      height,
      size,
    ]
    assert.deepEqual(alike(byForm.body), alike(byJson.body))
    assert.equal(byForm.body.name, 'Logo.png')
  })

  test('leaves a line in the action log, without the image', async () => {
    const { accountId, key } = await app.makeAccount()
    await app.upload(png, { key, name: 'logged.png' })
    await app.call('POST', '/v3/media', { key, body: { name: 'logged.png', content } })
    await app.call('POST', '/v3/media', { key, body: { name: 'logged.png', content: `${content}AAAA!` } })
    await app.upload(Buffer.from('<svg/>'), { key, name: 'logged.png' })
    const Line = row<{ operation: string; params: string; status: string }>({
      operation: text,
      params: text,
      status: text,
    })
    const lines = await app.pools.db.many(
      Line,
      sql`select operation, params::text, status::text
            from audit_lines where account_id = ${accountId} order by at, id`,
    )
    assert.deepEqual(lines.map(({ status }) => status).sort(), ['201', '201', '400', '400'])
    for (const { operation, params } of lines) {
      assert.deepEqual([operation, JSON.parse(params).name], ['media.create', 'logged.png'])
      assert.ok(!params.includes(content.slice(0, 20)) && !params.includes('content"'), params)
    }
  })

  test('of nothing is refused in words that fit a form and JSON', async () => {
    const byJson = await app.call('POST', '/v3/media', { body: { content: ' ' } })
    for (const { status, body } of [await app.upload(Buffer.alloc(0)), byJson])
      assert.deepEqual(
        [status, body.code, body.message],
        [400, 'missing_parameter', 'The image is empty: content, or the file of the form.'],
      )
  })

  test('refuses what is no form and no JSON in clear words', async () => {
    const send = (body: string | FormData, type?: string) =>
      fetch(`${app.url}/v3/media`, {
        method: 'POST',
        headers: { 'api-key': app.key, ...(type && { 'content-type': type }) },
        body,
      })
    const form = (fill: (form: FormData) => void) => {
      const made = new FormData()
      fill(made)
      return made
    }
    const blob = new Blob([new Uint8Array(png)])
    const boundary = 'multipart/form-data; boundary=x'
    const picture = (await (await send('x', 'image/png')).json()) as { message: string }
    assert.match(picture.message, /JSON, or a form .* field file\.$/)
    const cases: [number, string, Promise<Response>][] = [
      [415, 'unsupported_media_type', send('x', 'image/png')],
      [400, 'bad_request', send('x', 'multipart/form-data')],
      [400, 'bad_request', send('x', boundary)],
      [
        400,
        'bad_request',
        send('--x\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\nabc', boundary),
      ],
      [400, 'missing_parameter', send('--x--\r\n', boundary)],
      [400, 'missing_parameter', send('', boundary)],
      [400, 'missing_parameter', send(form((one) => one.set('name', 'x')))],
      [400, 'missing_parameter', send(form((one) => one.set('file', 'text')))],
      [400, 'missing_parameter', send(form((one) => one.set('image', blob, 'a.png')))],
      [400, 'missing_parameter', send(form((one) => one.set('file', new Blob([]), 'a.png')))],
      [400, 'bad_request', send(form((one) => ['a', 'b'].map(() => one.append('file', blob, 'a.png'))))],
      [400, 'bad_request', send(form((one) => Array.from({ length: 50 }, (_, i) => one.set(`f${i}`, 'x'))))],
      [400, 'bad_request', send(form((one) => one.set('__proto__', 'x')))],
    ]
    for (const [at, [status, code, response]] of cases.entries()) {
      const reply = await response
      const body = (await reply.json()) as { code: string; message: string }
      assert.deepEqual([at, reply.status, body.code], [at, status, code], JSON.stringify(body))
      assert.ok(body.message.length > 10)
    }
    for (const body of [
      {},
      { content: '' },
      { content: 'no base64 at all!' },
      { content: 5 },
      { content: [] },
      { content: null },
      [],
    ]) {
      const reply = await app.call('POST', '/v3/media', { body })
      assert.equal(reply.status, 400, `${JSON.stringify(body)} ${reply.text}`)
    }
  })

  test('takes base64 in lines, with or without its padding, and of the sort for addresses', async () => {
    const forms = [
      content.replaceAll(/.{76}/g, '$&\r\n'),
      content.replace(/=+$/, ''),
      png.toString('base64url'),
    ]
    for (const form of forms) {
      const reply = await app.call('POST', '/v3/media', { body: { name: null, content: form } })
      assert.deepEqual([reply.status, reply.body.name], [201, 'image.png'], reply.text)
    }
  })

  test('refuses what is larger than 10 MB, however it comes', async () => {
    const large = Buffer.concat([png, Buffer.alloc(10 * 1024 * 1024 - png.length)])
    assert.equal((await app.upload(large)).status, 201)
    const larger = Buffer.concat([large, Buffer.alloc(1)])
    const replies = [
      await app.upload(larger),
      await app.call('POST', '/v3/media', { body: { content: larger.toString('base64') } }),
    ]
    for (const { status, body } of replies)
      assert.deepEqual([status, body.code, /10 MB/.test(body.message)], [413, 'payload_too_large', true])
    const far = await app.upload(Buffer.alloc(11 * 1024 * 1024)).catch(() => undefined)
    assert.ok(far === undefined || far.status === 413)
  })

  test('refuses a kind of body that other operations do not take', async () => {
    const form = new FormData()
    form.set('file', new Blob([new Uint8Array(png)]), 'a.png')
    const headers = { 'api-key': app.key }
    const reply = await fetch(`${app.url}/v3/senders`, { method: 'POST', headers, body: form })
    assert.equal(reply.status, 415)
  })
})

describe('a name', () => {
  const cases: [string, string, string][] = [
    ['../../etc/passwd', 'passwd', 'inline; filename="passwd.png"'],
    ['C:\\photos\\me.png', 'me.png', 'inline; filename="me.png"'],
    [
      'a"b\r\nSet-Cookie: x=1.png',
      'a"b Set-Cookie: x=1.png',
      `inline; filename="a_b Set-Cookie_ x_1.png"; filename*=UTF-8''a%22b%20Set-Cookie%3A%20x%3D1.png`,
    ],
    [
      'été 🎺.html',
      'été 🎺.html',
      `inline; filename="_t_ __.png"; filename*=UTF-8''%C3%A9t%C3%A9%20%F0%9F%8E%BA.png`,
    ],
    ['photo\u202egnp.exe', 'photognp.exe', 'inline; filename="photognp.png"'],
    ['..', 'image.png', 'inline; filename="image.png"'],
    ['   ', 'image.png', 'inline; filename="image.png"'],
    ['x'.repeat(5_000), 'x'.repeat(255), `inline; filename="${'x'.repeat(255)}.png"`],
  ]
  for (const [given, shown, header] of cases) {
    test(`such as ${JSON.stringify(given.slice(0, 30))} is shown and sent safely`, async () => {
      const {
        status,
        body,
        text: said,
      } = await app.call('POST', '/v3/media', { body: { name: given, content } })
      assert.deepEqual([status, body.name], [201, shown], said)
      assert.equal((await app.see(body.url)).headers.get('content-disposition'), header)
    })
  }

  test('of a form may hold what it likes', async () => {
    const boundary = 'multipart/form-data; boundary=x'
    for (const given of ['a\0b.png', '\ud800.png', '../x.png', '']) {
      const head = `--x\r\nContent-Disposition: form-data; name="file"; filename="${given}"\r\n\r\n`
      const body = Buffer.concat([Buffer.from(head), png, Buffer.from('\r\n--x--\r\n')])
      const headers = { 'api-key': app.key, 'content-type': boundary }
      const reply = await fetch(`${app.url}/v3/media`, {
        method: 'POST',
        headers,
        body: new Uint8Array(body),
      })
      const told = await reply.text()
      assert.ok(reply.status === 201 || reply.status === 400, told)
    }
    const nul = await app.call('POST', '/v3/media', { body: { name: 'a\0b', content } })
    assert.equal(nul.status, 400)
  })
})
