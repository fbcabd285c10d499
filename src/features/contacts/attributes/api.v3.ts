import { Type } from 'typebox'
import { operation } from '../../../kernel/operation.ts'
import { notFound } from '../../../kernel/refusals.ts'
import { closed, words } from '../../../kernel/schema.ts'
import { computeGlobals, type Globals } from './calculate.ts'
import { type AttributeRow, listAttributes } from './queries.ts'
import { categories, ownAttributes, types } from './values.ts'
import {
  AttributeBody,
  changeAttribute,
  createAttribute,
  removeAttribute,
  removeOption,
} from './write-attribute.ts'

const writes = { area: 'Contacts', scope: 'contacts.write', effect: 'change' } as const
const params = closed({ category: words(categories), name: Type.String({ maxLength: 200 }) })

const Attribute = closed({
  name: Type.String(),
  category: words(categories),
  type: Type.Optional(words(types)),
  enumeration: Type.Optional(
    Type.Array(closed({ value: Type.Integer(), label: Type.String(), valueStr: Type.String() })),
  ),
  multiCategoryOptions: Type.Optional(Type.Array(Type.String())),
  calculatedValue: Type.Optional(Type.String({ description: 'The formula' })),
  computedValue: Type.Optional(
    Type.Union([Type.Number(), Type.Null()], { description: 'Of a global one: what its formula gives now' }),
  ),
})

function show({ name, category, type, enumeration, options, formula }: AttributeRow, globals: Globals) {
  return {
    name,
    category,
    // The provider's clients know no type of that name.
    ...(type === null || type === 'category' ? {} : { type }),
    ...(enumeration && { enumeration: enumeration.map((one) => ({ ...one, valueStr: String(one.value) })) }),
    ...(options && { multiCategoryOptions: options }),
    ...(formula === null ? {} : { calculatedValue: formula }),
    ...(category === 'global' ? { computedValue: globals.get(name) ?? null } : {}),
  }
}

export const listAttributesV3 = operation({
  area: 'Contacts',
  scope: 'contacts.read',
  effect: 'read',
  name: 'attribute.list',
  http: 'GET /v3/contacts/attributes',
  summary: 'List contact attributes',
  reply: closed({ attributes: Type.Array(Attribute) }),
}).run(async ({ db, caller: { accountId } }) => {
  const attributes = await listAttributes(db, accountId)
  const globals = await computeGlobals(db, accountId, attributes)
  const own = ownAttributes.map((one) => ({ ...one, formula: null }))
  return { attributes: [...own, ...attributes].map((one) => show(one, globals)) }
})

export const createAttributeV3 = operation({
  ...writes,
  name: 'attribute.create',
  http: 'POST /v3/contacts/attributes/{category}/{name}',
  summary: 'Declare a contact attribute',
  params,
  body: AttributeBody,
  status: 201,
  reply: Type.Null(),
}).run(async (ctx, { params: at, body }) => {
  await createAttribute(ctx, at, body)
  return null
})

export const updateAttributeV3 = operation({
  ...writes,
  name: 'attribute.update',
  http: 'PUT /v3/contacts/attributes/{category}/{name}',
  summary: 'Change the choices or the formula of an attribute',
  description:
    'enumeration takes the place of the categories there are: contacts lose a value that is not among them. ' +
    'multiCategoryOptions are added to the options there are.',
  params,
  body: AttributeBody,
  status: 204,
  reply: Type.Null(),
  refusals: [notFound],
}).run(async (ctx, { params: at, body }) => {
  await changeAttribute(ctx, at, body)
  return null
})

export const deleteAttributeV3 = operation({
  ...writes,
  name: 'attribute.delete',
  http: 'DELETE /v3/contacts/attributes/{category}/{name}',
  summary: 'Delete an attribute with its values',
  effect: 'irreversible',
  params,
  status: 204,
  reply: Type.Null(),
  refusals: [notFound],
}).run(async (ctx, { params: at }) => {
  await removeAttribute(ctx, at)
  return null
})

export const deleteOptionV3 = operation({
  ...writes,
  name: 'attribute.delete_option',
  http: 'DELETE /v3/contacts/attributes/multiple-choice/{name}/{option}',
  summary: 'Delete a choice of a multiple-choice attribute, with the values that contacts have of it',
  effect: 'irreversible',
  params: closed({ name: Type.String({ maxLength: 200 }), option: Type.String({ maxLength: 200 }) }),
  status: 204,
  reply: Type.Null(),
  refusals: [notFound],
}).run(async (ctx, { params: { name, option } }) => {
  await removeOption(ctx, name, option)
  return null
})
