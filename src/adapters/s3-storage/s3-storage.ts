// Files as objects of a bucket, at Amazon or at whoever speaks its protocol.
import type { Readable } from 'node:stream'
import type { S3Client } from '@aws-sdk/client-s3'
import type { FileStorage } from '../../kernel/ports.ts'

export type S3Options = {
  bucket: string
  /** Before every name, with a slash between; may be empty. */
  prefix: string
  region: string
  /** Of a server that is not Amazon's; buckets are then named in the path. */
  endpoint?: string
  /** Without them the usual places of the AWS SDK are looked at. */
  credentials?: { accessKeyId: string; secretAccessKey: string; sessionToken?: string }
  timeoutMs?: number
}

type Sdk = typeof import('@aws-sdk/client-s3')
type Reached = { sdk: Sdk; client: S3Client }

/** The SDK is loaded with the first file: it is large, and many processes never see one. */
export function openS3Storage(options: S3Options): FileStorage {
  let reached: Promise<Reached> | undefined
  const reach = () => {
    reached ??= import('@aws-sdk/client-s3').then((sdk) => ({ sdk, client: clientOf(sdk, options) }))
    return reached
  }
  const at = (name: string) => ({
    Bucket: options.bucket,
    Key: options.prefix === '' ? name : `${options.prefix}/${name}`,
  })
  const storage: FileStorage = {
    kind: 's3',
    write: async (name, content, contentType) => {
      const { sdk, client } = await reach()
      await client.send(new sdk.PutObjectCommand({ ...at(name), Body: content, ContentType: contentType }))
    },
    read: async (name) => {
      const { sdk, client } = await reach()
      return client.send(new sdk.GetObjectCommand(at(name))).then(
        ({ Body }) => Body as Readable | undefined,
        (error) => undefinedWhenMissing(sdk, error),
      )
    },
    remove: async (name) => {
      const { sdk, client } = await reach()
      await client.send(new sdk.DeleteObjectCommand(at(name)))
    },
    verify: async () => {
      const probe = `probe-${process.pid}.txt`
      await storage.write(probe, Buffer.from('It can be written to.'), 'text/plain')
      await storage.remove(probe)
    },
  }
  return storage
}

function clientOf(sdk: Sdk, { region, endpoint, credentials, timeoutMs = 30_000 }: S3Options): S3Client {
  return new sdk.S3Client({
    region,
    endpoint,
    credentials,
    forcePathStyle: endpoint !== undefined,
    // What other servers than Amazon's do not know is only sent where it has to be.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
    maxAttempts: 3,
    requestHandler: {
      connectionTimeout: 5_000,
      requestTimeout: timeoutMs,
      // Otherwise the time limit is only written to the log.
      throwOnRequestTimeout: true,
      // It ends with the head of the answer; a body that never comes is waited for no longer.
      socketTimeout: timeoutMs,
    },
  })
}

function undefinedWhenMissing(sdk: Sdk, error: unknown): undefined {
  if (error instanceof sdk.NoSuchKey) return undefined
  throw error
}
