import type { GuardedClient } from '../adapters/guarded-http/guarded-http.ts'

export type GuardedRequests = Pick<GuardedClient, 'request'>

/** Loaded with the first request: the library is large, and many installations never fetch anything. */
export function lazyGuardedClient(options: { allowPrivate: boolean }): GuardedRequests {
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
  }
}
