// The files that templates of steps have attached. A step is prepared in a transaction and a file fetched outside of
// any: runs that lack one are left where they are until it is there, and those of other accounts go on.
import { setTimeout as sleep } from 'node:timers/promises'
import { Refusal } from '../../../kernel/refusal.ts'
import type { Attachment } from '../../messages/queue-messages.ts'
import { fetchFile } from '../../transactional/attached-file.ts'
import type { FetchAttachment } from '../../transactional/v3/attachments.ts'

/** It is being fetched. */
export class FileOnItsWay extends Error {}

export type StepFiles = {
  /** Throws the refusal where the file cannot be read; one that is new is asked for. */
  get: (accountId: string, url: string) => Attachment
  /** The accounts that wait for a file. */
  waiting: () => string[]
  /** Another file is there, or cannot be had, or none came in that time. */
  next: (withinMs: number) => Promise<unknown>
}

type Fetching = { over: Promise<unknown>; accounts: Set<string> }

export function openStepFiles(fetch: FetchAttachment): StepFiles {
  const known = new Map<string, Attachment | Refusal>()
  const underWay = new Map<string, Fetching>()

  function begin(url: string): Fetching {
    const over = fileOrRefusal(fetch, url)
      .then((file) => known.set(url, file))
      .finally(() => underWay.delete(url))
    // Whoever waits for the next one hears of it.
    over.catch(() => {})
    const fetching = { over, accounts: new Set<string>() }
    underWay.set(url, fetching)
    return fetching
  }

  return {
    get(accountId, url) {
      const file = known.get(url)
      if (file instanceof Refusal) throw file
      if (file) return file
      const { accounts } = underWay.get(url) ?? begin(url)
      accounts.add(accountId)
      throw new FileOnItsWay()
    },
    waiting: () => [...underWay.values()].flatMap(({ accounts }) => [...accounts]),
    async next(withinMs) {
      const done = new AbortController()
      const late = sleep(withinMs, undefined, { signal: done.signal })
      try {
        await Promise.race([late, ...[...underWay.values()].map(({ over }) => over)])
      } finally {
        done.abort()
      }
    },
  }
}

async function fileOrRefusal(fetch: FetchAttachment, url: string): Promise<Attachment | Refusal> {
  try {
    return await fetchFile(fetch, url)
  } catch (error) {
    if (error instanceof Refusal) return error
    throw error
  }
}
