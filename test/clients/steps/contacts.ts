// Folders, lists, attributes, contacts, segments, import, export and double opt-in.
import assert from 'node:assert/strict'
import type { Loose } from '../clients.ts'
import type { Step } from './step.ts'

const page = { limit: 10, offset: 0 }
const sorted = { ...page, sort: 'asc' }
const has = (rows: Loose[], id: number) => assert.ok(rows.some((row) => row.id === id))

const foldersAndLists: Step[] = [
  {
    does: 'contacts.createFolder',
    body: () => ({ name: 'Shop' }),
    status: 201,
    gives: ({ id }, s) => {
      s.folderId = id
    },
  },
  { does: 'contacts.getFolders', args: () => sorted, gives: (a, s) => has(a.folders, s.folderId) },
  {
    does: 'contacts.updateFolder',
    args: ({ folderId }) => ({ folderId }),
    body: () => ({ name: 'Store' }),
    wrapped: true,
    status: 204,
  },
  {
    does: 'contacts.getFolder',
    args: ({ folderId }) => ({ folderId }),
    gives: ({ name }) => assert.equal(name, 'Store'),
  },
  {
    does: 'contacts.createList',
    body: ({ folderId }) => ({ name: 'News', folderId }),
    status: 201,
    gives: ({ id }, s) => {
      s.listId = id
    },
  },
  { does: 'contacts.getLists', args: () => sorted, gives: (a, s) => has(a.lists, s.listId) },
  {
    does: 'contacts.getFolderLists',
    args: ({ folderId }) => ({ folderId, ...sorted }),
    gives: (a, s) => has(a.lists, s.listId),
  },
  {
    does: 'contacts.updateList',
    args: ({ listId }) => ({ listId }),
    body: () => ({ name: 'Novelties' }),
    status: 204,
  },
  {
    does: 'contacts.getList',
    args: ({ listId }) => ({ listId }),
    gives: (a, s) => assert.deepEqual([a.name, a.folderId], ['Novelties', s.folderId]),
  },
]

const attribute = (attributeCategory: string, attributeName: string) => () => ({
  attributeCategory,
  attributeName,
})

const attributes: Step[] = [
  {
    does: 'contacts.createAttribute',
    args: attribute('normal', 'CITY'),
    body: () => ({ type: 'text' }),
    status: 201,
  },
  {
    does: 'contacts.createAttribute',
    args: attribute('category', 'SIZE'),
    body: () => ({ enumeration: [{ value: 1, label: 'small' }] }),
    status: 201,
  },
  {
    does: 'contacts.updateAttribute',
    args: attribute('category', 'SIZE'),
    body: () => ({
      enumeration: [
        { value: 1, label: 'small' },
        { value: 2, label: 'big' },
      ],
    }),
    status: 204,
  },
  {
    does: 'contacts.getAttributes',
    before: async (_, { call }) => {
      const colours = { type: 'multiple-choice', multiCategoryOptions: ['red', 'blue'] }
      await call('POST', '/v3/contacts/attributes/normal/COLOURS', colours)
    },
    gives: ({ attributes }) => {
      const size = attributes.find(({ name }: Loose) => name === 'SIZE')
      assert.deepEqual([size.category, size.enumeration.length], ['category', 2])
    },
  },
  {
    does: 'contacts.deleteMultiAttributeOptions',
    args: () => ({
      attributeType: 'multiple-choice',
      multipleChoiceAttribute: 'COLOURS',
      multipleChoiceAttributeOption: 'red',
    }),
    status: 204,
  },
  { does: 'contacts.deleteAttribute', args: attribute('category', 'SIZE'), status: 204 },
]

const people: Step[] = [
  {
    does: 'contacts.createContact',
    body: ({ listId }) => ({
      email: 'ann@example.com',
      attributes: { CITY: 'Paris' },
      listIds: [listId],
      emailBlacklisted: false,
      smsBlacklisted: false,
      updateEnabled: false,
    }),
    status: 201,
    gives: ({ id }, s) => {
      assert.equal(typeof id, 'number')
      s.contactId = id
    },
  },
  {
    does: 'contacts.getContacts',
    args: ({ listId }) => ({
      limit: 50,
      offset: 0,
      modifiedSince: '2026-01-01T00:00:00.000Z',
      createdSince: '2026-01-01T00:00:00.000Z',
      sort: 'desc',
      listIds: [listId],
    }),
    gives: ({ contacts, count }, s) => {
      assert.deepEqual([count, contacts[0].id, contacts[0].attributes.CITY], [1, s.contactId, 'Paris'])
    },
  },
  {
    does: 'contacts.updateContact',
    args: () => ({ identifier: 'ann@example.com' }),
    body: () => ({ attributes: { CITY: 'Lyon' }, smsBlacklisted: true }),
    status: 204,
  },
  {
    does: 'contacts.getContactInfo',
    args: () => ({ identifier: 'ann@example.com' }),
    gives: ({ attributes, smsBlacklisted }) =>
      assert.deepEqual([attributes.CITY, smsBlacklisted], ['Lyon', true]),
  },
  { does: 'contacts.getContactStats', args: () => ({ identifier: 'ann@example.com' }) },
  {
    does: 'contacts.updateBatchContacts',
    body: () => ({ contacts: [{ email: 'ann@example.com', attributes: { CITY: 'Nice' } }] }),
    status: 204,
  },
  {
    does: 'contacts.removeContactFromList',
    args: ({ listId }) => ({ listId }),
    body: () => ({ emails: ['ann@example.com'] }),
    wrapped: true,
    status: 201,
    gives: ({ contacts }) => assert.deepEqual(contacts.success, ['ann@example.com']),
  },
  {
    does: 'contacts.addContactToList',
    args: ({ listId }) => ({ listId }),
    body: () => ({ emails: ['ann@example.com'] }),
    wrapped: true,
    status: 201,
    gives: ({ contacts }) => assert.deepEqual(contacts.success, ['ann@example.com']),
  },
  {
    does: 'contacts.getContactsFromList',
    args: ({ listId }) => ({ listId, limit: 50, offset: 0, sort: 'asc' }),
    gives: ({ contacts }, s) => has(contacts, s.contactId),
  },
  {
    does: 'contacts.getSegments',
    before: async (_, { call }) => {
      await call('POST', '/v3/segments', { name: 'South', attribute: 'CITY', operator: 'eq', value: 'Nice' })
    },
    args: () => sorted,
    gives: ({ count }) => assert.equal(count, 1),
  },
]

const processes: Step[] = [
  {
    does: 'contacts.importContacts',
    body: ({ listId }) => ({
      jsonBody: [{ email: 'bob@example.com', attributes: { CITY: 'Rome' } }],
      listIds: [listId],
      emailBlacklist: false,
      smsBlacklist: false,
      updateExistingContacts: true,
      emptyContactsAttributes: false,
    }),
    status: 202,
    gives: ({ processId }, s) => {
      s.processId = processId
    },
  },
  {
    does: 'process.getProcess',
    args: ({ processId }) => ({ processId }),
    gives: (a, s) => assert.equal(a.id, s.processId),
  },
  {
    does: 'process.getProcesses',
    args: () => sorted,
    gives: ({ processes }, s) => has(processes, s.processId),
  },
  {
    does: 'contacts.requestContactExport',
    body: () => ({
      customContactFilter: { actionForContacts: 'allContacts' },
      exportAttributes: ['CITY'],
    }),
    status: 202,
    gives: ({ processId }) => assert.equal(typeof processId, 'number'),
  },
  {
    does: 'contacts.createDoiContact',
    before: async (s, { call }) => {
      const { body } = await call('POST', '/v3/smtp/templates', {
        templateName: 'Confirm',
        subject: 'Please confirm',
        sender: { email: 'shop@example.com' },
        htmlContent: '<a href="{{ doubleoptin }}">Yes, I want it</a>',
        tag: 'optin',
        isActive: true,
      })
      s.optinId = body.id
    },
    body: ({ listId, optinId }) => ({
      email: 'new@example.com',
      includeListIds: [listId],
      templateId: optinId,
      redirectionUrl: 'https://shop.example/thanks',
    }),
    status: 201,
  },
]

const goodbye: Step[] = [
  { does: 'contacts.deleteContact', args: () => ({ identifier: 'ann@example.com' }), status: 204 },
  { does: 'contacts.deleteList', args: ({ listId }) => ({ listId }), status: 204 },
  { does: 'contacts.deleteFolder', args: ({ folderId }) => ({ folderId }), status: 204 },
]

export const contactSteps = [...foldersAndLists, ...attributes, ...people, ...processes]
export const lastContactSteps = goodbye
