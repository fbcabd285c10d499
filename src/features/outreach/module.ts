// The gate of the module, and what all of its operations share.
import { Type } from 'typebox'
import type { Ctx } from '../../kernel/ctx.ts'
import { refusal } from '../../kernel/refusal.ts'
import { closed } from '../../kernel/schema.ts'
import { findModules } from './module-queries.ts'

export const moduleDisabled = refusal({
  code: 'module_disabled',
  kind: 'forbidden',
  message:
    'The account does not have the outreach module. Switch it on with PUT /api/v1/settings {"outreach_enabled": true}.',
})

export const legalIdentityMissing = refusal({
  code: 'legal_identity_missing',
  kind: 'refused',
  message:
    'The legal identity is empty: every message must name the company and its postal address. ' +
    'Declare both with PUT /v3/outreach/identity.',
})

/** Every operation of the module asks first. */
export async function requireModule({ db, caller }: Ctx): Promise<void> {
  if (!(await db.gathered(findModules, caller.accountId))) throw moduleDisabled()
}

const area = { area: 'Outreach' } as const

export const reading = { ...area, scope: 'contacts.read', effect: 'read' } as const
export const counting = { ...area, scope: 'analytics.read', effect: 'read' } as const
export const writing = { ...area, scope: 'contacts.write', effect: 'change' } as const
export const sending = { ...area, scope: 'email.send', effect: 'change' } as const
export const settingUp = { ...area, scope: 'settings.write', effect: 'change' } as const

// What no identifier can be reaches no statement.
export const Id = Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER })
export const idParams = closed({ id: Id })
