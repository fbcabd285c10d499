// Sending domains, and what their operations and their job need of the outside.
import * as own from '../features/domains/api.own.ts'
import * as v3 from '../features/domains/api.v3.ts'
import type { DomainNeeds } from '../features/domains/look-at-domain.ts'
import { recheckDomains } from '../features/domains/recheck-domains.ts'
import { announce } from '../features/webhooks/announce.ts'
import type { Job } from '../kernel/job.ts'
import type { Operation } from '../kernel/operation.ts'
import type { Config } from './config.ts'
import { openSecretKeys } from './secret-key.ts'
import { openIdentity, type TransportConfig } from './transports.ts'

export function domainOperations(needs: DomainNeeds): Operation[] {
  return [
    own.listDomainsOwn,
    own.declareDomainOwn(needs),
    own.verifyDomainOwn(needs),
    own.getDomainDns,
    own.rotateDkimOwn(needs),
    own.deleteDomainOwn,
    v3.listSenderDomains,
    v3.createSenderDomain(needs),
    v3.getSenderDomain,
    v3.authenticateSenderDomain(needs),
    v3.deleteSenderDomain,
  ]
}

export const domainJob = (needs: DomainNeeds): Job => ({
  name: 'domains.recheck',
  everySeconds: 30,
  claimsItsOwn: true,
  run: (db, now, stopping) => recheckDomains({ ...needs, db }, now, stopping),
})

type DomainConfig = TransportConfig & Pick<Config, 'spfInclude' | 'sendingIps' | 'secretKey' | 'dataDir'>

export function domainNeeds(config: DomainConfig, around: Pick<DomainNeeds, 'dns' | 'log'>): DomainNeeds {
  return {
    ...around,
    onBroken: (db, { accountId, at, ...data }) =>
      announce(db, { accountId, event: 'domainBroken', data, at }),
    identity: openIdentity(config),
    spf: { include: config.spfInclude ?? [], ip: config.sendingIps ?? [] },
    secretKeys: openSecretKeys(config),
  }
}
