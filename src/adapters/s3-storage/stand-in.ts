// A server that speaks the protocol, on loopback, for tests.
// @ts-expect-error: it comes without types
import S3rver from '@20minutes/s3rver'

export async function startS3Server({ folder, bucket }: { folder: string; bucket: string }) {
  const server = new S3rver({
    address: '127.0.0.1',
    port: 0,
    silent: true,
    directory: folder,
    configureBuckets: [{ name: bucket, configs: [] }],
  })
  const { port } = await server.run()
  return {
    endpoint: `http://127.0.0.1:${port}`,
    // The only ones that it knows.
    credentials: { accessKeyId: 'S3RVER', secretAccessKey: 'S3RVER' },
    close: () => server.close(),
  }
}
