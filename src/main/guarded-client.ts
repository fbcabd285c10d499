import type { GuardedClient, Resolve } from '../adapters/guarded-http/guarded-http.ts'

export type GuardedRequests = Pick<GuardedClient, 'request'>

type Options = {
  allowPrivate: boolean
  resolve?: Resolve
  userAgent?: string
  connections?: number | null
}

/** Loaded with the first request: the library is large, and many installations never fetch anything. */
export function lazyGuardedClient(options: Options): GuardedClient {
  let opened: Promise<GuardedClient> | undefined
  const open = () =>
    import('../adapters/guarded-http/guarded-http.ts').then(({ openGuardedClient }) =>
      openGuardedClient(options),
    )
  return {
    request: async (wanted) => {
      opened ??= open()
      return (await opened).request(wanted)
    },
    check: async (url) => {
      opened ??= open()
      return (await opened).check(url)
    },
    close: async () => (await opened)?.close(),
  }
}
