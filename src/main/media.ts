// The media library with the storage that the configuration names.
import { join } from 'node:path'
import { openDiskStorage } from '../adapters/disk-storage/disk-storage.ts'
import { openS3Storage } from '../adapters/s3-storage/s3-storage.ts'
import * as media from '../features/media/api.v3.ts'
import { mediaJob } from '../features/media/clear-files.ts'
import type { Job } from '../kernel/job.ts'
import type { Log } from '../kernel/log.ts'
import type { Operation } from '../kernel/operation.ts'
import type { FileStorage } from '../kernel/ports.ts'
import { type Config, quietAwsSdk } from './config.ts'

export function mediaOperations(needs: media.MediaNeeds): Operation[] {
  return [
    media.listImagesV3(needs),
    media.createImageV3(needs),
    media.getImageV3(needs),
    media.deleteImageV3,
    media.fetchImageV3(needs),
  ]
}

export const openMediaJob = (config: StorageConfig, log: Log): Job =>
  mediaJob({ storage: openMediaStorage(config), log })

type StorageConfig = Pick<
  Config,
  | 'mediaStorage'
  | 'dataDir'
  | 's3Region'
  | 's3Endpoint'
  | 'awsAccessKeyId'
  | 'awsSecretAccessKey'
  | 'awsSessionToken'
>

export function openMediaStorage(config: StorageConfig): FileStorage {
  const { mediaStorage, awsAccessKeyId: accessKeyId, awsSecretAccessKey: secretAccessKey } = config
  if (mediaStorage.kind === 'disk') return openDiskStorage({ folder: join(config.dataDir, 'media') })
  quietAwsSdk()
  const { awsSessionToken: sessionToken } = config
  return openS3Storage({
    bucket: mediaStorage.bucket,
    prefix: mediaStorage.prefix,
    region: config.s3Region,
    endpoint: config.s3Endpoint,
    credentials: accessKeyId && secretAccessKey ? { accessKeyId, secretAccessKey, sessionToken } : undefined,
  })
}
