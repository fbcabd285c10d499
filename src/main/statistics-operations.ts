import * as statistics from '../features/statistics/api.own.ts'
import { createConversion } from '../features/statistics/conversions/api.own.ts'
import { createConversionV3 } from '../features/statistics/conversions/api.v3.ts'
import type { Operation } from '../kernel/operation.ts'

export const statisticsOperations: Operation[] = [
  createConversion,
  statistics.getCampaignStats,
  createConversionV3,
  statistics.getCohorts,
  statistics.getDeliverabilityStats,
  statistics.getEngagement,
  statistics.getRevenue,
]
