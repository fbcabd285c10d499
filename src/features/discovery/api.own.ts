// The capabilities describe all operations, these two included, so both are made with what they need.
import type { Static } from 'typebox'
import { answer, operation } from '../../kernel/operation.ts'
import { unknownParameter } from '../../kernel/refusals.ts'
import { Capabilities } from './capabilities.ts'
import { databaseDown, Health, type Probes, readHealth } from './health.ts'

export const getCapabilities = (describe: () => Static<typeof Capabilities>) =>
  operation({
    name: 'capabilities.get',
    http: 'GET /api/v1/capabilities',
    area: 'Discovery',
    summary: 'Describe the product, its interfaces, limits and scopes',
    scope: null,
    public: true,
    effect: 'read',
    reply: Capabilities,
    refusals: [unknownParameter],
  }).run(async () => describe())

export const getHealth = (probes: Probes) =>
  operation({
    name: 'health.get',
    http: 'GET /api/v1/health',
    area: 'Discovery',
    summary: 'Report on database, queue and transport',
    description: 'Answers 503, within two seconds, when the database does not answer.',
    scope: null,
    effect: 'read',
    status: [200, 503],
    reply: Health,
    whenDatabaseDown: (requestId) => answer(503, databaseDown(probes, requestId)),
  }).run((ctx) => readHealth(ctx, probes))
