import { textFromHtml } from '../../messages/mime/text-from-html.ts'

type Content = { text?: string | undefined; html?: string | undefined }

/** Whether there is anything to see: an editor leaves empty paragraphs behind. */
export function hasContent({ text = '', html = '' }: Content): boolean {
  return text.trim() !== '' || /<img\b/i.test(html) || textFromHtml(html).trim() !== ''
}
