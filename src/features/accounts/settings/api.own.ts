import { Type } from 'typebox'
import { operation } from '../../../kernel/operation.ts'
import { changeSettings, readSettings, Settings } from './settings.ts'

export const getSettings = operation({
  name: 'settings.get',
  http: 'GET /api/v1/settings',
  area: 'Account',
  summary: 'Read the account settings',
  scope: 'analytics.read',
  effect: 'read',
  reply: Settings,
}).run((ctx) => readSettings(ctx))

export const updateSettings = operation({
  name: 'settings.update',
  http: 'PUT /api/v1/settings',
  area: 'Account',
  summary: 'Change account settings',
  description: 'Takes any subset of the settings and answers with all of them.',
  scope: 'settings.write',
  effect: 'change',
  changesCallers: true,
  body: Type.Partial(Settings, { additionalProperties: false }),
  reply: Settings,
}).run((ctx, { body }) => changeSettings(ctx, body))
