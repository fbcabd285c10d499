// Everything that moves campaigns along, in every worker process.
import type { Job } from '../../../kernel/job.ts'
import type { Log } from '../../../kernel/log.ts'
import type { FetchAttachment } from '../../transactional/v3/attachments.ts'
import { startDue } from './campaign-queries.ts'
import { feedCampaigns } from './feed-campaigns.ts'
import { fetchFiles } from './fetch-file.ts'
import { decideTests, finishCampaigns } from './finish-campaigns.ts'
import { followCampaigns } from './follow-campaigns.ts'
import { freezeCampaigns } from './freeze-campaigns.ts'
import { giveBackIdle } from './reserve-sending.ts'

type Needs = { log: Log; now: () => Date; wake: () => void; fetchAttachment?: FetchAttachment }

const eachSecond = { everySeconds: 1, claimsItsOwn: true } as const

export const campaignJobs = ({ log, now, wake, fetchAttachment }: Needs): Job[] => [
  {
    name: 'campaigns.start',
    ...eachSecond,
    run: async (db, at) => {
      await startDue(db, at)
      await finishCampaigns(db, at)
    },
  },
  { name: 'campaigns.give-back', ...eachSecond, run: giveBackIdle },
  { name: 'campaigns.attach', ...eachSecond, run: (db, at) => fetchFiles({ db, fetchAttachment }, at) },
  {
    name: 'campaigns.freeze',
    ...eachSecond,
    run: (db, at, stopping) => freezeCampaigns({ db, log, stopping }, at),
  },
  {
    name: 'campaigns.follow',
    ...eachSecond,
    run: (db, at, stopping) => followCampaigns({ db, stopping }, at),
  },
  {
    name: 'campaigns.feed',
    ...eachSecond,
    run: (db, _, stopping) => feedCampaigns({ db, now, wake, stopping }),
  },
  // Hours are waited for; a look costs as much as a campaign has waiting.
  { name: 'campaigns.winner', everySeconds: 15, run: decideTests },
]
