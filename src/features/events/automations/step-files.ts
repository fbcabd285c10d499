// The files that templates of steps have attached. A step is prepared in a transaction and a file fetched outside of
// any: a portion that lacks one is given up, the file is fetched, and the portion is taken again.
import { Refusal } from '../../../kernel/refusal.ts'
import type { Attachment } from '../../messages/queue-messages.ts'
import { templateInvalid } from '../../messages/refusals.ts'
import { fetchFile } from '../../transactional/attached-file.ts'
import type { FetchAttachment } from '../../transactional/v3/attachments.ts'

export type StepFiles = {
  /** Throws the refusal where the file cannot be read, or has not been fetched yet. */
  get: (url: string) => Attachment
  isWanting: () => boolean
  fetchWanted: () => Promise<void>
}

export function openStepFiles(fetch: FetchAttachment): StepFiles {
  const known = new Map<string, Attachment | Refusal>()
  const wanted = new Set<string>()
  return {
    get(url) {
      const file = known.get(url)
      if (!file) wanted.add(url)
      if (file && !(file instanceof Refusal)) return file
      throw file ?? templateInvalid({ message: 'Its attachment is not fetched yet.' })
    },
    isWanting: () => wanted.size > 0,
    async fetchWanted() {
      const urls = [...wanted]
      wanted.clear()
      await Promise.all(urls.map(async (url) => known.set(url, await fileOrRefusal(fetch, url))))
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
