// Requests of the contact operations that succeed, and what must exist before them.
import { unsubscribeKeysOf, writeUnsubscribeToken } from '../../src/features/contacts/unsubscribe/tokens.ts'
import type { App } from '../app.ts'
import type { Example } from './examples.ts'

/** The secret that the contract tests start the service with. */
export const secretKey = Buffer.alloc(32, 5)

const colours = { enumeration: [{ value: 1, label: 'Blue' }] }
const annas = { name: 'Annas', attribute: 'FIRSTNAME', operator: 'eq', value: 'Anna' }
const anna = '/v3/contacts/anna%40example.com'
const colour = '/v3/contacts/attributes/category/COLOUR'

const optin = {
  email: 'anna@example.com',
  includeListIds: [1],
  templateId: 1,
  redirectionUrl: 'https://shop.example/thanks',
}

export const contactExamples: Record<string, Partial<Example>> = {
  'contact.erase': { body: { email: 'anna@example.com', confirm: true } },
  'contact.export': { path: '/api/v1/contacts/export?email=anna@example.com' },
  'v3.contact.create': { body: { email: 'new@example.com' } },
  'v3.contact.get': { path: anna },
  'v3.contact.update': { path: anna, body: { emailBlacklisted: false } },
  'v3.contact.delete': { path: anna },
  'v3.contact.resubscribe': { path: `${anna}/resubscribe` },
  'v3.contact.tag': { path: `${anna}/tags`, body: { tags: ['vip'] } },
  'v3.contact.untag': { path: `${anna}/tags`, body: { tags: ['vip'] } },
  'v3.contact.history': { path: `${anna}/history` },
  'v3.contact.campaign_stats': { path: `${anna}/campaignStats` },
  'v3.contact.double_optin': { body: optin },
  'v3.contact.import': { body: { jsonBody: [{ email: 'anna@example.com' }] } },
  'v3.contact.export_all': { body: { customContactFilter: { actionForContacts: 'allContacts' } } },
  'v3.contact.batch': {
    body: { contacts: [{ email: 'anna@example.com', attributes: { FIRSTNAME: 'Anna' } }] },
  },
  'v3.attribute.create': { path: '/v3/contacts/attributes/category/HUE', body: colours },
  'v3.attribute.update': { path: colour, body: colours },
  'v3.attribute.delete': { path: colour },
  'v3.attribute.delete_option': { path: '/v3/contacts/attributes/multiple-choice/HOBBIES/chess' },
  'v3.folder.create': { body: { name: 'Shop' } },
  'v3.folder.get': { path: '/v3/contacts/folders/1' },
  'v3.folder.update': { path: '/v3/contacts/folders/1', body: { name: 'New' } },
  'v3.folder.delete': { path: '/v3/contacts/folders/1' },
  'v3.folder.lists': { path: '/v3/contacts/folders/1/lists' },
  'v3.list.create': { body: { name: 'News' } },
  'v3.list.get': { path: '/v3/contacts/lists/1' },
  'v3.list.update': { path: '/v3/contacts/lists/1', body: { name: 'New' } },
  'v3.list.delete': { path: '/v3/contacts/lists/1' },
  'v3.list.contacts': { path: '/v3/contacts/lists/1/contacts' },
  'v3.list.add': { path: '/v3/contacts/lists/1/contacts/add', body: { emails: ['anna@example.com'] } },
  'v3.list.remove': { path: '/v3/contacts/lists/1/contacts/remove', body: { all: true } },
  'v3.process.get': { path: '/v3/processes/1' },
  'v3.segment.create': { body: annas },
  'v3.segment.get': { path: '/v3/segments/1' },
  'v3.segment.update': { path: '/v3/segments/1', body: { name: 'New' } },
  'v3.segment.delete': { path: '/v3/segments/1' },
  'v3.segment.contacts': { path: '/v3/segments/1/contacts' },
  'v3.contact.segment_create': { body: annas },
  'v3.contact.segment_get': { path: '/v3/contacts/segments/1' },
  'v3.contact.segment_update': { path: '/v3/contacts/segments/1', body: { name: 'New' } },
  'v3.contact.segment_delete': { path: '/v3/contacts/segments/1' },
  'v3.contact.segment_contacts': { path: '/v3/contacts/segments/1/contacts' },
  'v3.unsubscribe.check': { path: '/v3/unsubscribe/x' },
  'v3.unsubscribe.confirm': { path: '/v3/unsubscribe/x' },
}

type Prepare = (app: App, key: string) => Promise<Partial<Example>>

const withContact: Prepare = async (app, key) => {
  await app.call('POST', '/v3/contacts', { key, body: { email: 'anna@example.com', updateEnabled: true } })
  return {}
}

const withColour: Prepare = async (app, key) => {
  await app.call('POST', colour, { key, body: colours })
  return {}
}

/** Makes one with this body and puts its number where the path has one. */
const made =
  (path: string, body: object, rest = ''): Prepare =>
  async (app, key) => {
    const { body: reply } = await app.call('POST', path, { key, body })
    return { path: `${path}/${reply.id}${rest}` }
  }

const folder = (rest = '') => made('/v3/contacts/folders', { name: 'Shop' }, rest)
const list = (rest = '') => made('/v3/contacts/lists', { name: 'News' }, rest)
const segment = (rest = '') => made('/v3/segments', annas, rest)
const contactSegment = (rest = '') => made('/v3/contacts/segments', annas, rest)

const withToken: Prepare = async (app) => {
  const to = { accountId: app.accountId, email: 'anna@example.com' }
  return { path: `/v3/unsubscribe/${writeUnsubscribeToken(unsubscribeKeysOf([secretKey]), to)}` }
}

export const contactPrepared: Record<string, Prepare> = {
  ...Object.fromEntries(
    ['get', 'update', 'delete', 'resubscribe', 'tag', 'untag', 'history', 'campaign_stats', 'batch'].map(
      (verb) => [`v3.contact.${verb}`, withContact],
    ),
  ),
  'v3.contact.double_optin': async (app, key) => {
    const { body: made } = await app.call('POST', '/v3/contacts/lists', { key, body: { name: 'News' } })
    const { body: template } = await app.call('POST', '/v3/smtp/templates', {
      key,
      body: {
        templateName: 'Confirm',
        subject: 'Confirm',
        sender: { email: 'shop@example.com' },
        htmlContent: '<a href="{{ doubleoptin }}">Confirm</a>',
        tag: 'optin',
        isActive: true,
      },
    })
    return {
      body: { ...optin, email: 'optin@example.com', includeListIds: [made.id], templateId: template.id },
    }
  },
  'v3.attribute.update': withColour,
  'v3.attribute.delete': withColour,
  'v3.attribute.delete_option': async (app, key) => {
    const body = { type: 'multiple-choice', multiCategoryOptions: ['chess', 'golf'] }
    await app.call('POST', '/v3/contacts/attributes/normal/HOBBIES', { key, body })
    return {}
  },
  'v3.folder.get': folder(),
  'v3.folder.update': folder(),
  'v3.folder.delete': folder(),
  'v3.folder.lists': folder('/lists'),
  'v3.list.get': list(),
  'v3.list.update': list(),
  'v3.list.delete': list(),
  'v3.list.contacts': list('/contacts'),
  'v3.list.add': async (app, key) => {
    await withContact(app, key)
    return list('/contacts/add')(app, key)
  },
  'v3.list.remove': list('/contacts/remove'),
  'v3.process.get': async (app, key) => {
    const { body } = await app.call('POST', '/v3/contacts/import', {
      key,
      body: { jsonBody: [{ email: 'a@example.com' }] },
    })
    return { path: `/v3/processes/${body.processId}` }
  },
  'v3.segment.get': segment(),
  'v3.segment.update': segment(),
  'v3.segment.delete': segment(),
  'v3.segment.contacts': segment('/contacts'),
  'v3.contact.segment_get': contactSegment(),
  'v3.contact.segment_update': contactSegment(),
  'v3.contact.segment_delete': contactSegment(),
  'v3.contact.segment_contacts': contactSegment('/contacts'),
  'v3.unsubscribe.check': withToken,
  'v3.unsubscribe.confirm': withToken,
}
