import { Type } from 'typebox'
import { partsOf, storable } from './lenient.ts'

/** The provider asks for a list in JSON; its clients repeat the name, and people write commas. */
export const tagsQuery = {
  tags: Type.Optional(
    Type.Array(
      Type.String({ maxLength: 2600, description: 'One tag, several with commas, or a JSON list of them' }),
      { maxItems: 50, description: 'Any of them' },
    ),
  ),
}

/** Nothing when no tag is asked for. A text counts as it stands too: a tag may hold a comma. */
export function readTags(given: string[] = []): string[] | undefined {
  const tags = given.flatMap((one) => listIn(one) ?? [one, ...partsOf([one])]).map(storable)
  const asked = tags.filter((one) => one !== '')
  return asked.length > 0 ? asked : undefined
}

function listIn(text: string): string[] | undefined {
  try {
    const list: unknown = JSON.parse(text)
    return Array.isArray(list) ? list.map(String) : undefined
  } catch {
    return undefined
  }
}
