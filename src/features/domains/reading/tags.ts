/** `tag=value; tag=value` (RFC 6376 §3.2), as DKIM and DMARC write their records. */
export type Tags = { first: string; of: ReadonlyMap<string, string>; faults: string[] }

const tagName = /^[A-Za-z][A-Za-z0-9_]*$/

/** What is no tag or stands twice is a fault; the first of two counts. */
export function readTags(record: string): Tags {
  const of = new Map<string, string>()
  const faults: string[] = []
  for (const part of record.split(';')) {
    if (part.trim() === '') continue
    const at = part.indexOf('=')
    const name = part.slice(0, Math.max(at, 0)).trim()
    if (!tagName.test(name))
      faults.push(`${JSON.stringify(part.trim().slice(0, 60))} is not of the form tag=value`)
    else if (of.has(name)) faults.push(`the tag ${name.slice(0, 60)} stands twice`)
    else of.set(name, part.slice(at + 1).trim())
  }
  return { first: of.keys().next().value ?? '', of, faults }
}
