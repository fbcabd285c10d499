import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeApp } from '../../../test/app.ts'
import { until } from '../../../test/until.ts'
import type { Transport } from '../../kernel/ports.ts'
import { deliverThrough } from './fixtures/engine.ts'

const app = await makeApp()

test('copies go to the letters that the addresses were given with', async () => {
  const asked: string[] = []
  const transport: Transport = {
    kind: 'scripted',
    signs: false,
    takesMarketing: true,
    concurrency: 2,
    send: async ({ recipient }) => {
      asked.push(recipient)
      return { kind: 'accepted', upstreamId: null, response: '250 ok' }
    },
    verify: async () => {},
    close: async () => {},
  }
  const stop = deliverThrough({ db: app.pools.db, transport })
  const body = {
    sender: { email: 'shop@example.com' },
    to: [{ email: 'Anna.Lee@Example.com' }],
    cc: [{ email: 'Bo.Doe@Example.com' }],
    bcc: [{ email: 'Cy.Low@Example.com' }, { email: 'dee@example.com' }],
    subject: 'Hello',
    textContent: 'Hi.',
  }
  assert.equal((await app.call('POST', '/v3/smtp/email', { body })).status, 201)
  await until(async () => asked.length === 4, 'all copies')
  assert.deepEqual(asked.sort(), [
    'Anna.Lee@example.com',
    'Bo.Doe@example.com',
    'Cy.Low@example.com',
    'dee@example.com',
  ])
  await stop()
})
