import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sql } from '../../kernel/sql.ts'
import { addMessage, app, base, call, campaign, create, put, shop, shown } from './fixtures/campaigns.ts'

describe('creating a campaign', () => {
  test('keeps what was given, and gives it back in the provider’s words', async () => {
    const { key, listId } = await shop()
    const id = await create(key, {
      type: 'classic',
      previewText: 'Look',
      recipients: { listIds: [listId, listId], exclusionListIds: null },
      replyTo: 'Answer@shop.example',
      toField: '{FNAME}',
      tag: 'spring',
      header: 'Top',
      footer: '[DEFAULT_FOOTER]',
      utmCampaign: 'Spring',
      emailExpirationDate: { duration: 3600, unit: 'weeks' },
      params: { sale: 5 },
      inlineImageActivation: false,
      sendAtBestTime: false,
      abTesting: false,
      ipWarmupEnable: false,
      mirrorActive: false,
      unknown: 1,
    })
    const found = await shown(key, id)
    const { statistics, progress, createdAt, modifiedAt, ...rest } = found
    assert.deepEqual(rest, {
      id,
      name: 'Spring',
      type: 'classic',
      status: 'draft',
      subject: 'Hello {{ contact.FIRSTNAME }}',
      previewText: 'Look',
      abTesting: false,
      testSent: false,
      header: 'Top',
      footer: '[DEFAULT_FOOTER]',
      sender: { id: 0, name: 'Shop', email: 'news@shop.example' },
      replyTo: 'Answer@shop.example',
      toField: '{FNAME}',
      emailExpirationDate: { duration: 3600, unit: 'weeks' },
      htmlContent: campaign.htmlContent,
      tag: 'spring',
      tags: ['spring'],
      shareLink: 'The link to a campaign is made when it has been sent',
      attachmentUrl: '',
      inlineImageActivation: false,
      mirrorActive: false,
      recurring: false,
      sendAtBestTime: false,
      returnBounce: 0,
      ipWarmupEnable: false,
      utmCampaignValue: 'Spring',
      utmContent: '',
      utmTerm: '',
      utmSource: 'Posthorn',
      utmMedium: 'EMAIL',
      recipients: { lists: [listId], exclusionLists: [], segments: [], excludedSegments: [] },
    })
    assert.equal(statistics.globalStats.sent, 0)
    assert.deepEqual(statistics.campaignStats, [])
    assert.equal(createdAt, modifiedAt)
    const none = { queued: 0, held: 0, sent: 0, delivered: 0, failed: 0, suppressed: 0, cancelled: 0 }
    assert.deepEqual(progress, { total: 0, ...none })
  })

  test('shows the number of its sender', async () => {
    const { key } = await shop()
    const sender = { name: 'Hello', email: 'Hello@shop.example' }
    const { id } = (await call(key, 'POST', '/v3/senders', sender)).body
    const made = await create(key, { sender: { email: 'hello@shop.example', name: 'H' } })
    assert.equal((await shown(key, made)).sender.id, id)
    assert.equal((await call(key, 'GET', base)).body.campaigns[0].sender.id, id)
  })

  test('copies the content of an active template', async () => {
    const { key } = await shop()
    const template = {
      templateName: 'T',
      subject: 'Of the template',
      sender: { email: 'hello@shop.example' },
      htmlContent: '<p>From the template</p>',
      isActive: true,
    }
    const templateId = (await call(key, 'POST', '/v3/smtp/templates', template)).body.id
    const made = await call(key, 'POST', base, { name: 'N', templateId })
    const found = await shown(key, made.body.id)
    assert.equal(found.subject, 'Of the template')
    assert.equal(found.htmlContent, '<p>From the template</p>')
    assert.equal(found.sender.email, 'hello@shop.example')
    await call(key, 'PUT', `/v3/smtp/templates/${templateId}`, { isActive: false })
    assert.equal((await call(key, 'POST', base, { name: 'N', templateId })).status, 400)
  })

  test('refuses what could not be sent, with the reason', async () => {
    const { key } = await shop()
    const bad: [object, RegExp, string?][] = [
      [{ name: undefined }, /Campaign name is missing/, 'missing_parameter'],
      [{ name: ' ' }, /Campaign name is missing/, 'missing_parameter'],
      [{ sender: undefined }, /sender is missing/, 'missing_parameter'],
      [{ sender: { id: 3 } }, /There is no sender 3/],
      [{ sender: { id: 3, email: 'a@b.example' } }, /not both/],
      [{ sender: { email: 'nobody' } }, /valid sender email required/],
      [{ subject: undefined }, /subject is missing/, 'missing_parameter'],
      [{ htmlContent: undefined }, /htmlContent, htmlUrl and templateId/, 'missing_parameter'],
      [{ htmlContent: '<p>abc</p>' }, /more than 10 and/],
      [{ htmlContent: 'x'.repeat(1_000_001) }, /at most 1000000 char/],
      [{ htmlContent: '<p>long enough\n{{ contact.A | nofilter }}</p>' }, /htmlContent.*nofilter.*line 2/],
      [{ htmlContent: undefined, htmlUrl: 'http://127.0.0.1/x' }, /htmlUrl could not be read/],
      [{ htmlUrl: 'https://a.example/' }, /only one of htmlContent, htmlUrl/],
      [{ templateId: 4 }, /only one of/],
      [{ htmlContent: undefined, templateId: 2 ** 53 - 1 }, /There is no template/],
      [{ htmlContent: undefined, templateId: 2 ** 53 }, /templateId/],
      [{ subject: '{% if %}' }, /subject is not a valid template/],
      [{ previewText: '{{' }, /previewText is not a valid template/],
      [{ footer: '{% for %}' }, /footer is not a valid template/],
      [
        { htmlContent: '<p>Hello</p>\n <!-- open' },
        /htmlContent.*<!-- open is never closed.*line 2, column 2/,
      ],
      [{ htmlContent: '<p>Hello <a href="https://a.example/' }, /<a href="https.* is never closed/],
      [{ htmlContent: '<div style="display:none">Look<p>Hello</p>' }, /<div .* is never closed/],
      [{ htmlContent: '<title>Look<p>Hello</p>', footer: '[DEFAULT_FOOTER]' }, /<title>.* is never closed/],
      [{ htmlContent: '<p>Hello</p>', header: 'x <style> y' }, /header.*<style> y is never closed/],
      [{ toField: '{{ x | nofilter }}' }, /toField is not a valid template/],
      [{ sender: { email: 'a@b.example', name: '{{' } }, /sender is not a valid template/],
      [{ replyTo: 'nobody' }, /replyTo must be an email address/],
      [{ attachmentUrl: 'https://a.example/x.mp4' }, /attachmentUrl must end with/],
      [{ attachmentUrl: 'ftp://a.example/x.pdf' }, /attachmentUrl must be an http/],
      [{ ipWarmupEnable: true }, /initialQuota is missing/, 'missing_parameter'],
      [{ ipWarmupEnable: true, initialQuota: 1, increaseRate: 30 }, /initialQuota must be between 2/],
      [
        { ipWarmupEnable: true, initialQuota: 9, increaseRate: 101 },
        /increaseRate must be between 0 and 100/,
      ],
      [{ utmCampaign: 'a&b' }, /utmCampaign may have letters, digits and spaces only/],
      [{ utmTerm: 'a-b' }, /utmTerm may have/],
      [{ emailExpirationDate: { unit: 'days' } }, /duration is missing/, 'missing_parameter'],
      [{ emailExpirationDate: { duration: 0, unit: 'days' } }, /duration must be between 1 and 3600/],
      [{ emailExpirationDate: { duration: 9, unit: 'years' } }, /unit must be one of days, weeks, months/],
      [{ scheduledAt: '2026-11-31T10:00:00Z' }, /scheduledAt must be a time that exists/],
      [{ recurring: true }, /recurring is not supported; an automation/],
      [{ recipients: { listIds: ['x'] } }, /listIds/],
      [{ scheduledAt: '2099-01-01T00:00:00Z' }, /two years/],
      [{ scheduledAt: 'tomorrow' }, /scheduledAt must be a time/],
      [{ scheduledAt: new Date(Date.now() + 60_000).toISOString() }, /no recipients/, 'missing_parameter'],
      [{ abTesting: true }, /subjectA is missing/, 'missing_parameter'],
      [{ abTesting: true, subjectA: 'A', subjectB: 'A', splitRule: 50 }, /must differ/],
      [{ abTesting: true, subjectA: 'A', subjectB: 'B', splitRule: 51 }, /between 1 and 50/],
      [{ abTesting: true, subjectA: 'A', subjectB: 'B', splitRule: 10 }, /winnerCriteria/],
    ]
    for (const [change, says, code = 'invalid_parameter'] of bad) {
      const reply = await call(key, 'POST', base, { ...campaign, ...change })
      assert.equal(reply.status, 400, `${JSON.stringify(change).slice(0, 200)} ${reply.text}`)
      assert.match(reply.body.message, says)
      assert.equal(reply.body.code, code, reply.text)
    }
    assert.equal((await call(key, 'GET', base)).body.count, 0, 'nothing is left of them')
  })

  test('takes an A/B test', async () => {
    const { key } = await shop()
    const test = {
      abTesting: true,
      subjectA: 'One',
      subjectB: 'Two',
      splitRule: 20,
      winnerCriteria: 'click',
      winnerDelay: 4,
    }
    const found = await shown(key, await create(key, { ...test, subject: undefined }))
    assert.equal(found.subject, undefined)
    for (const [name, value] of Object.entries(test)) assert.equal(found[name], value)
    const result = await call(key, 'GET', `${base}/${found.id}/abTestCampaignResult`)
    assert.equal(result.body.winningVersion, 'notAvailable')
  })
})

describe('changing and deleting a campaign', () => {
  test('what is not given stays', async () => {
    const { key, listId } = await shop()
    const id = await create(key, { tag: 'a', recipients: { listIds: [listId] } })
    const { body: other } = await call(key, 'POST', '/v3/contacts/lists', { name: 'Other' })
    const change = { subject: 'New', recipients: { exclusionListIds: [other.id] }, previewText: 'P' }
    assert.equal((await call(key, 'PUT', `${base}/${id}`, change)).status, 204)
    const found = await shown(key, id)
    assert.deepEqual(
      [found.name, found.subject, found.tag, found.previewText, found.htmlContent],
      ['Spring', 'New', 'a', 'P', campaign.htmlContent],
    )
    assert.deepEqual(found.recipients.lists, [listId])
    assert.deepEqual(found.recipients.exclusionLists, [other.id])
    const broken = await call(key, 'PUT', `${base}/${id}`, { htmlContent: '<p>{{ a | nofilter }}</p>' })
    assert.equal(broken.status, 400)
    assert.equal((await shown(key, id)).htmlContent, campaign.htmlContent)
  })

  test('is refused once it is under way', async () => {
    const { key } = await shop()
    const id = await create(key)
    const expected: [string, number, string, number][] = [
      ['in_process', 400, 'campaign_processing', 400],
      ['suspended', 400, 'campaign_processing', 400],
      ['cancelled', 400, 'invalid_parameter', 204],
    ]
    for (const [status, changed, code, deleted] of expected) {
      await put(id, status)
      const change = await call(key, 'PUT', `${base}/${id}`, { name: 'X' })
      assert.deepEqual([change.status, change.body.code], [changed, code], status)
      assert.match(change.body.message, new RegExp(status))
      assert.equal((await call(key, 'DELETE', `${base}/${id}`)).status, deleted, status)
    }
    const sent = await create(key)
    await put(sent, 'sent')
    assert.equal((await call(key, 'PUT', `${base}/${sent}`, { name: 'X' })).body.code, 'campaign_sent')
  })

  test('waits for its messages, which stay', async () => {
    const { accountId, key } = await shop()
    const id = await create(key)
    await put(id, 'sent')
    const messageId = await addMessage({ accountId, id, name: 'anna', status: 'queued' })
    assert.equal((await call(key, 'DELETE', `${base}/${id}`)).body.code, 'campaign_processing')
    await app.pools.db.run(sql`
      update messages set status = 'sent' where account_id = ${accountId} and id = ${messageId}`)
    assert.equal((await call(key, 'DELETE', `${base}/${id}`)).status, 204)
    assert.equal((await call(key, 'GET', '/api/v1/messages')).body.data.length, 1)
  })

  test('never reaches another account', async () => {
    const [ours, theirs] = [await shop(), await shop()]
    const id = await create(ours.key)
    const calls: [string, string, object?][] = [
      ['GET', ''],
      ['PUT', '', { name: 'X' }],
      ['DELETE', ''],
      ['POST', '/pause'],
      ['POST', '/cancel'],
      ['POST', '/schedule', { scheduledAt: new Date(Date.now() + 60_000).toISOString() }],
      ['POST', '/sendNow', { confirm: true }],
      ['POST', '/sendTest', { emailTo: ['a@b.example'] }],
      ['PUT', '/status', { status: 'archive' }],
      ['PUT', '/status', { status: 'replicate' }],
      ['GET', '/statistics'],
      ['GET', '/recipients'],
      ['GET', '/sharedUrl'],
      ['GET', '/abTestCampaignResult'],
    ]
    for (const [method, path, body] of calls) {
      const reply = await call(theirs.key, method, `${base}/${id}${path}`, body)
      assert.deepEqual([reply.status, reply.body.code], [404, 'document_not_found'], path)
      const beyond = await call(theirs.key, method, `${base}/9007199254740993${path}`, body)
      assert.ok([400, 404].includes(beyond.status), path)
    }
    assert.equal((await shown(ours.key, id)).status, 'draft')
  })
})

describe('listing campaigns', () => {
  test('filters, pages and leaves the HTML out', async () => {
    const { key, listId } = await shop()
    const ids: number[] = []
    for (const name of ['a', 'b', 'c'])
      ids.push(await create(key, { name, recipients: { listIds: [listId] } }))
    await put(ids[0] ?? 0, 'sent')
    await put(ids[1] ?? 0, 'in_process')
    const names = async (query: string) => {
      const { status, body, text } = await call(key, 'GET', `${base}?${query}`)
      assert.equal(status, 200, text)
      return body.campaigns.map(({ name }: { name: string }) => name)
    }
    assert.deepEqual(await names(''), ['c', 'b', 'a'])
    assert.deepEqual(await names('sort=asc&limit=2'), ['a', 'b'])
    assert.deepEqual(await names('offset=1&limit=1'), ['b'])
    assert.deepEqual(await names('status=inProcess'), ['b'])
    assert.deepEqual(await names('status=in_process'), ['b'])
    assert.deepEqual(await names('status=inReview'), [])
    assert.deepEqual(await names('type=trigger'), [])
    assert.deepEqual(await names('startDate=2026-11-01&endDate=2026-11-01'), ['a'])
    assert.deepEqual(await names('status=sent&startDate=2026-11-02&endDate=2026-11-03'), [])
    const first = await call(key, 'GET', `${base}?limit=2&excludeHtmlContent=true`)
    assert.equal(first.body.count, 3)
    assert.equal(first.body.campaigns[0].htmlContent, '')
    assert.deepEqual(await names(`limit=2&cursor=${first.body.next_cursor}`), ['a'])
    assert.match((await call(key, 'GET', `${base}?status=sent`)).body.campaigns[0].shareLink, /\/mirror\//)
    const bad = ['limit=101', 'status=gone', 'statistics=x', 'startDate=2026-11-01', 'cursor=x']
    for (const query of [...bad, 'status=draft&startDate=2026-11-01&endDate=2026-11-02'])
      assert.equal((await call(key, 'GET', `${base}?${query}`)).status, 400, query)
  })
})
