// The short form; `npm run test:long` has the long one.
import { testFleet } from './run.ts'

testFleet(
  'two APIs, two workers, a relay; one of each killed, one frozen: nothing is lost, nothing counts twice',
  {
    http: 500,
    smtp: 60,
    campaign: 1_000,
    imported: 4_000,
    rounds: 1,
    restMs: 1_500,
    frozenMs: 12_000,
  },
)
