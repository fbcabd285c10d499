// Requests of the statistics and conversions that succeed, and what must exist before them.
import { int, row } from '../../src/kernel/row.ts'
import { sql } from '../../src/kernel/sql.ts'
import type { App } from '../app.ts'
import type { Example } from './examples.ts'

const conversion = { email: 'anna@example.com', amount: 49.9 }

export const statisticsExamples: Record<string, Partial<Example>> = {
  'campaign.conversion': { body: conversion },
  'v3.campaign.conversion': { body: conversion },
  'campaign.stats': { path: '/api/v1/campaigns/1/stats' },
}

const Made = row<{ id: number }>({ id: int })

export const statisticsPrepared: Record<string, (app: App, key: string) => Promise<Partial<Example>>> = {
  'campaign.stats': async (app, key) => {
    const { body } = await app.call('GET', '/api/v1/usage', { key })
    const { id } = await app.pools.db.one(
      Made,
      sql`
      insert into campaigns (account_id, name, sender, created_at, modified_at)
      select account_id, 'News', '{"email": "shop@example.com"}', now(), now()
        from api_keys
       where id = replace(${body.key.id}, 'key_', '')::uuid
      returning id::int`,
    )
    return { path: `/api/v1/campaigns/${id}/stats` }
  },
}
