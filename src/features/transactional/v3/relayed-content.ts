// What is in a message of the relay, which is kept as it came.
import { openParsers } from '../../../kernel/parse-apart.ts'

const parseApart = openParsers()

/** Nothing of what cannot be read in time. */
export async function contentOf(raw: Buffer): Promise<{ body: string; attachments: number }> {
  const mail = await parseApart(raw)
  return { body: mail?.html ?? mail?.text ?? '', attachments: mail?.attachments.length ?? 0 }
}
