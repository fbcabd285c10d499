import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { makeApp } from '../../../../test/app.ts'
import { until } from '../../../../test/until.ts'

const app = await makeApp({ deliver: true, env: { POSTHORN_RATE_LIMIT_FACTOR: '100' } })
const base = '/v3/smtp/templates'

const welcome = {
  templateName: 'Welcome',
  subject: 'Hello {{ params.name }}',
  sender: { name: 'Shop', email: 'shop@example.com' },
  htmlContent: '<p>Dear {{ params.name }}</p>',
  replyTo: 'answers@example.com',
  tag: 'welcome',
}

async function create(body: object, key = app.key): Promise<number> {
  const reply = await app.call('POST', base, { key, body: { ...welcome, ...body } })
  assert.equal(reply.status, 201, reply.text)
  return reply.body.id
}

async function captured(email: string) {
  return until(async () => {
    const { body } = await app.call('GET', `/api/v1/sandbox/messages?to=${encodeURIComponent(email)}`)
    return body.data[0]
  }, `mail to ${email}`)
}

test('the action log knows of its name, not of its content', async () => {
  const { key } = await app.makeAccount()
  const id = await create({}, key)
  await app.call('PUT', `${base}/${id}`, { key, body: { subject: 'New', htmlContent: '<p>New content</p>' } })
  const { data } = (await app.call('GET', '/api/v1/audit-logs', { key })).body
  const [changed, made] = data.map(({ params }: { params: object }) => Object.keys(params).sort())
  assert.deepEqual(changed, ['templateId'])
  assert.deepEqual(made, ['replyTo', 'sender', 'tag', 'templateName'])
})

test('changes of one template at once are all kept, and it is deleted once', async () => {
  for (let round = 0; round < 5; round++) {
    const id = await create({})
    const changes = [
      { subject: 'New' },
      { tag: 'new' },
      { templateName: 'New' },
      { toField: 'New' },
      { replyTo: '' },
    ]
    const replies = await Promise.all(changes.map((body) => app.call('PUT', `${base}/${id}`, { body })))
    assert.deepEqual(new Set(replies.map(({ status }) => status)), new Set([204]))
    const { subject, tag, name, toField, replyTo } = (await app.call('GET', `${base}/${id}`)).body
    assert.deepEqual([subject, tag, name, toField, replyTo], ['New', 'new', 'New', 'New', ''])
    const gone = await Promise.all(changes.map(() => app.call('DELETE', `${base}/${id}`)))
    assert.deepEqual(gone.map(({ status }) => status).sort(), [204, 404, 404, 404, 404])
  }
})

describe('templates', () => {
  test('are created, read, changed and deleted', async () => {
    const id = await create({})
    const { body } = await app.call('GET', `${base}/${id}`)
    assert.deepEqual(
      { ...body, createdAt: 0, modifiedAt: 0 },
      {
        id,
        name: 'Welcome',
        subject: welcome.subject,
        isActive: false,
        testSent: false,
        sender: { id: '', name: 'Shop', email: 'shop@example.com' },
        replyTo: 'answers@example.com',
        toField: '',
        tag: 'welcome',
        htmlContent: welcome.htmlContent,
        attachmentUrl: '',
        createdAt: 0,
        modifiedAt: 0,
        doiTemplate: false,
      },
    )
    const change = await app.call('PUT', `${base}/${id}`, { body: { isActive: true, subject: 'New' } })
    assert.deepEqual([change.status, change.text], [204, ''])
    const { body: changed } = await app.call('GET', `${base}/${id}`)
    assert.deepEqual([changed.subject, changed.isActive, changed.tag], ['New', true, 'welcome'])
    assert.equal((await app.call('DELETE', `${base}/${id}`)).status, 400)
    await app.call('PUT', `${base}/${id}`, { body: { isActive: false } })
    assert.equal((await app.call('DELETE', `${base}/${id}`)).status, 204)
    const gone = await app.call('GET', `${base}/${id}`)
    assert.deepEqual([gone.status, gone.body.code], [404, 'document_not_found'])
  })

  test('are listed by pages, newest first, and by state', async () => {
    const { key } = await app.makeAccount()
    const list = async (query = '') => (await app.call('GET', `${base}${query}`, { key })).body
    assert.deepEqual(await list(), { count: 0, templates: [], next_cursor: null })
    const ids = [await create({}, key), await create({ isActive: true }, key), await create({}, key)]
    const idsOf = (body: { templates: { id: number }[] }) => body.templates.map(({ id }) => id)
    assert.deepEqual(idsOf(await list()), ids.toReversed())
    assert.deepEqual(idsOf(await list('?sort=asc&offset=1')), ids.slice(1))
    // As Python writes what is true, and PHP.
    for (const yes of ['true', 'True', '1'])
      assert.deepEqual(idsOf(await list(`?templateStatus=${yes}`)), [ids[1]], yes)
    for (const no of ['false', 'False', '0'])
      assert.deepEqual(idsOf(await list(`?templateStatus=${no}`)), [ids[2], ids[0]], no)
    assert.equal((await list('?templateStatus=yes')).code, 'invalid_parameter')
    const first = await list('?limit=2')
    assert.deepEqual([first.count, idsOf(first)], [3, [ids[2], ids[1]]])
    assert.deepEqual(idsOf(await list(`?limit=2&cursor=${first.next_cursor}`)), [ids[0]])
    assert.deepEqual(idsOf(await list('?limit=0')), [])
    for (const query of ['?limit=1001', '?limit=-1', '?offset=-1'])
      assert.equal((await list(query)).code, 'out_of_range')
  })

  test('are refused in the provider’s words, and with the place of the fault', async () => {
    const refused: [object, string, RegExp][] = [
      [{ templateName: undefined }, 'missing_parameter', /^Template name is missing$/],
      [{ subject: '' }, 'missing_parameter', /^subject is missing$/],
      [{ sender: null }, 'missing_parameter', /^sender is missing$/],
      [{ htmlContent: undefined }, 'missing_parameter', /^htmlContent is missing$/],
      [{ htmlContent: 'short' }, 'invalid_parameter', /more than 10/],
      [{ htmlContent: '<p>\n  {% if x %}</p>' }, 'invalid_parameter', /line 2, column 3/],
      [{ subject: '{{ x | nofilter }}' }, 'invalid_parameter', /subject is not a valid template.*line 1/],
      [{ replyTo: 'nobody' }, 'invalid_parameter', /replyTo/],
      [{ attachmentUrl: 'https://a.example/x.odt' }, 'invalid_parameter', /attachmentUrl must end with/],
      [{ attachmentUrl: 'x.pdf' }, 'invalid_parameter', /attachmentUrl must be an http/],
    ]
    for (const [body, code, message] of refused) {
      const reply = await app.call('POST', base, { body: { ...welcome, ...body } })
      assert.deepEqual([reply.status, reply.body.code], [400, code], reply.text)
      assert.match(reply.body.message, message)
    }
  })

  test('of another account do not exist', async () => {
    const id = await create({ isActive: true })
    const { key } = await app.makeAccount()
    assert.equal((await app.call('GET', `${base}/${id}`, { key })).status, 404)
    assert.equal((await app.call('PUT', `${base}/${id}`, { key, body: { subject: 'x' } })).status, 404)
    assert.equal((await app.call('DELETE', `${base}/${id}`, { key })).status, 404)
    const body = { templateId: id, to: [{ email: 'a@example.com' }] }
    assert.equal((await app.call('POST', '/v3/smtp/email', { key, body })).status, 400)
  })

  test('are sent: sender, subject, content, reply address and tag are theirs', async () => {
    const id = await create({ isActive: true })
    const body = {
      templateId: id,
      to: [{ email: 'tom@example.com' }],
      params: { name: 'Tom' },
      htmlContent: 'no',
    }
    assert.equal((await app.call('POST', '/v3/smtp/email', { body })).status, 201)
    const mail = await captured('tom@example.com')
    assert.deepEqual([mail.subject, mail.from], ['Hello Tom', 'shop@example.com'])
    assert.match(mail.html, /Dear Tom/)
    const { body: list } = await app.call('GET', '/api/v1/messages?to=tom@example.com')
    assert.deepEqual([list.data[0].tag, list.data[0].template_id], ['welcome', id])
    const inactive = await create({})
    const refused = await app.call('POST', '/v3/smtp/email', { body: { ...body, templateId: inactive } })
    assert.match(refused.body.message, /not active/)
  })

  test('are tested on their authors, marked and untracked', async () => {
    const id = await create({ htmlContent: '<p>See <a href="https://example.com/x">this</a></p>' })
    const test = (body: object) => app.call('POST', `${base}/${id}/sendTest`, { body })
    assert.equal((await test({ emailTo: ['me@example.com', 'you@example.com'] })).status, 204)
    const mail = await captured('me@example.com')
    assert.equal(mail.subject, '[TEST] Hello')
    assert.match(mail.html, /href="https:\/\/example\.com\/x"/)
    assert.ok(!mail.html.includes('<img'))
    assert.equal((await app.call('GET', `${base}/${id}`)).body.testSent, true)
    assert.equal((await test({})).body.code, 'missing_parameter')
    assert.equal((await test({ emailTo: ['nobody'] })).body.code, 'invalid_parameter')
    assert.equal(
      (await app.call('POST', `${base}/999999/sendTest`, { body: { emailTo: ['a@example.com'] } })).status,
      404,
    )
  })

  test('are tested as their readers would get them, with links that change nothing', async () => {
    const attributes = { FIRSTNAME: 'Zoë' }
    await app.call('POST', '/v3/contacts', { body: { email: 'zoe@bücher.example', attributes } })
    const links = ['unsubscribe', 'preferences_url', 'mirror', 'doubleoptin', 'params.DOIurl']
    const id = await create({
      subject: 'For {{ contact.FIRSTNAME|default:"you" }}',
      sender: { name: 'Shop of {{ contact.FIRSTNAME }}', email: 'shop@example.com' },
      toField: '{{ contact.FIRSTNAME }}',
      htmlContent: `<p>{{ contact.EMAIL }}</p>${links.map((link) => `<a href="{{ ${link} }}">x</a>`).join('')}`,
    })
    const emailTo = ['zoe@bücher.example', 'stranger@example.com']
    const reply = await app.call('POST', `${base}/${id}/sendTest`, { body: { emailTo } })
    assert.equal(reply.status, 204, reply.text)
    const mail = await captured('zoe@xn--bcher-kva.example')
    assert.equal(mail.subject, '[TEST] For Zoë')
    const header = (name: string) => mail.headers.find((one: { name: string }) => one.name === name).value
    assert.deepEqual(
      [header('From'), header('To')],
      ['=?UTF-8?Q?Shop_of_Zo=C3=AB?= <shop@example.com>', '=?UTF-8?Q?Zo=C3=AB?= <zoe@xn--bcher-kva.example>'],
    )
    assert.match(mail.html, /<p>zoe@xn--bcher-kva\.example<\/p>/)
    const urls = [...mail.html.matchAll(/href="([^"]*)"/g)].map(([, url]) => new URL(url).pathname)
    for (const [at, page] of [
      '/u/test',
      '/preferences/test',
      /^\/mirror\/[\w-]{40,}$/,
      '/c/test',
      '/c/test',
    ].entries())
      typeof page === 'string' ? assert.equal(urls[at], page) : assert.match(urls[at] ?? '', page)
    for (const url of urls) assert.equal((await app.call('GET', url, { key: null })).status, 200, url)
    assert.equal((await captured('stranger@example.com')).subject, '[TEST] For you')
  })

  test('say the older placeholders in today’s words, and are kept as they were written', async () => {
    const { key } = await app.makeAccount()
    await app.call('POST', '/v3/contacts/attributes/normal/CITY', { key, body: { type: 'text' } })
    const reader = { email: 'older@example.com', attributes: { FIRSTNAME: 'Ann & Co', CITY: 'Ulm' } }
    assert.equal((await app.call('POST', '/v3/contacts', { key, body: reader })).status, 201)
    const htmlContent =
      '<p>%FNAME% {CITY} {{ params.x }} {TOWN} 50%OFF% <a href="[UNSUBSCRIBE]">out</a> <a href="[MIRROR]">page</a></p>'
    const subject = 'Hi {FIRSTNAME}, %TOWN%'
    const id = await create({ subject, htmlContent, isActive: true }, key)
    const kept = (await app.call('GET', `${base}/${id}`, { key })).body
    assert.deepEqual([kept.subject, kept.htmlContent], [subject, htmlContent])
    const to = 'older@example.com'
    const preview = { templateId: id, email: to, params: { x: 'X' } }
    const shown = (await app.call('POST', '/v3/smtp/template/preview', { key, body: preview })).body
    const found = [shown]
    for (const [path, body] of [
      ['/v3/smtp/email', { templateId: id, to: [{ email: to }], params: { x: 'X' } }],
      ['/api/v1/transactional/send', { template_id: id, to, params: { x: 'X' } }],
    ] as const) {
      assert.ok((await app.call('POST', path, { key, body })).status < 300)
      found.push(
        await until(async () => {
          const { data } = (await app.call('GET', `/api/v1/sandbox/messages?to=${to}`, { key })).body
          return data.length === found.length ? data[0] : undefined
        }, path),
      )
    }
    const link = '<a href="http[^"[]+">'
    const body = new RegExp(`^<p>Ann &#?\\w+; Co Ulm X {TOWN} 50%OFF% ${link}out</a> ${link}page</a></p>`)
    for (const { subject: said, html } of found) {
      assert.equal(said, 'Hi Ann & Co, %TOWN%')
      assert.match(html, body)
    }
  })

  test('are previewed for a contact whose address is written in its own script', async () => {
    await app.call('POST', '/v3/contacts', {
      body: { email: 'ada@bücher.example', attributes: { FIRSTNAME: 'Ada' } },
    })
    const templateId = await create({ subject: 'For {{ contact.FIRSTNAME|default:"you" }}' })
    const subjectFor = async (email: string) =>
      (await app.call('POST', '/v3/smtp/template/preview', { body: { templateId, email } })).body.subject
    assert.equal(await subjectFor(' Ada@BÜCHER.example '), 'For Ada')
    assert.equal(await subjectFor('nobody'), 'For you')
  })
})
