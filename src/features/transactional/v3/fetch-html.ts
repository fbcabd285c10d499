import { invalidParameter } from '../../../kernel/refusals.ts'
import { given, storable } from '../../../kernel/v3/lenient.ts'
import type { FetchAttachment } from './attachments.ts'

type WithHtml = { htmlUrl?: string; htmlContent?: string }

/** The same body with the HTML in place of its address, so that the act need not wait for anybody. */
export async function fetchHtml<B extends WithHtml>(fetch: FetchAttachment, body: B): Promise<B> {
  const url = given(body.htmlUrl)
  if (url === undefined || given(body.htmlContent) !== undefined) return body
  const fetched = await fetch(url).catch((error: unknown) => {
    const why = error instanceof Error ? error.message : String(error)
    throw invalidParameter({ message: `htmlUrl could not be read: ${why}`, param: 'htmlUrl' })
  })
  return { ...body, htmlUrl: undefined, htmlContent: storable(fetched.toString('utf8')) }
}
