import assert from 'node:assert/strict'
import { test } from 'node:test'
import { tokenKeysOf } from '../../../kernel/signed-token.ts'
import { optinKeysOf, readOptinToken, writeOptinToken } from './tokens.ts'

const secrets = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)] as const

test('a link of an older key is read, one of another purpose is not', () => {
  const token = { accountId: '7', id: '01890a5d-ac96-774b-bcce-b302099a8057' }
  const old = writeOptinToken(optinKeysOf([secrets[1]]), token)
  assert.deepEqual(readOptinToken(optinKeysOf(secrets), old), token)
  assert.equal(readOptinToken(optinKeysOf([secrets[0]]), old), undefined)
  const foreign = writeOptinToken(tokenKeysOf(secrets, 'posthorn unsubscribe'), token)
  assert.equal(readOptinToken(optinKeysOf(secrets), foreign), undefined)
})
