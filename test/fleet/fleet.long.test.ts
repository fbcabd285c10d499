// The long form of fleet.test.ts: more of everything, for some minutes.
import { testFleet } from './run.ts'

testFleet('a fleet that is killed and frozen again and again', {
  http: 12_000,
  smtp: 1_500,
  campaign: 20_000,
  imported: 20_000,
  rounds: 12,
  restMs: 4_000,
  frozenMs: 12_000,
})
