// The short form; `npm run test:long` has the long one.
import { testFleet } from './run.ts'

testFleet('two APIs, two workers and a relay, one of each killed: nothing is lost, nothing counts twice', {
  http: 800,
  smtp: 60,
  campaign: 1_500,
  imported: 6_000,
  rounds: 1,
  restMs: 1_500,
})
