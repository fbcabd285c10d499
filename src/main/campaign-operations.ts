// Campaigns: declared and moved, in both namespaces.
import { previewCampaignOwn, sendCampaignOwn } from '../features/campaigns/api.own.ts'
import * as campaigns from '../features/campaigns/api.v3.ts'
import * as ownMoves from '../features/campaigns/moves.api.own.ts'
import * as moves from '../features/campaigns/moves.api.v3.ts'
import * as reading from '../features/campaigns/reading.api.v3.ts'
import { exportRecipientsV3, sendReportV3 } from '../features/campaigns/reports.api.v3.ts'
import type { LinkSource } from '../features/campaigns/send-test.ts'
import type { FetchAttachment } from '../features/transactional/v3/attachments.ts'
import type { Operation } from '../kernel/operation.ts'
import type { CallNeeds } from '../kernel/v3/url.ts'

type CampaignNeeds = LinkSource & {
  fetchAttachment: FetchAttachment
  webhooks: CallNeeds
}

export function campaignOperations(needs: CampaignNeeds): Operation[] {
  return [
    previewCampaignOwn(needs),
    sendCampaignOwn,
    ...Object.values(ownMoves),
    campaigns.listCampaignsV3(needs),
    campaigns.createCampaignV3(needs),
    campaigns.getCampaignV3(needs),
    campaigns.updateCampaignV3(needs),
    campaigns.deleteCampaignV3,
    moves.cancelCampaignV3,
    moves.pauseCampaignV3,
    moves.stopCampaignV3,
    moves.resumeCampaignV3,
    moves.scheduleCampaignV3,
    moves.sendCampaignNowV3,
    moves.testCampaignV3(needs),
    reading.getCampaignStatisticsV3,
    moves.setCampaignStatusV3,
    reading.listCampaignRecipientsV3,
    reading.getSharedUrlV3(needs),
    reading.getAbTestResultV3,
    exportRecipientsV3(needs.webhooks),
    sendReportV3,
  ]
}
