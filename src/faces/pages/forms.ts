// The bodies that a browser or a mail program posts.

/** Anything that is no form, or a broken one, is an empty form: leaving must not fail over it. */
export async function readForm(
  contentType: string | undefined,
  body: Buffer | undefined,
): Promise<URLSearchParams> {
  const type = contentType?.split(';')[0]?.trim().toLowerCase()
  if (!body) return new URLSearchParams()
  if (type === 'application/x-www-form-urlencoded') return new URLSearchParams(body.toString())
  if (type === 'multipart/form-data') return readMultipart(contentType ?? '', body)
  return new URLSearchParams()
}

async function readMultipart(contentType: string, body: Buffer): Promise<URLSearchParams> {
  const headers = { 'content-type': contentType }
  const form = await new Response(new Uint8Array(body), { headers }).formData().catch(() => [])
  const fields = [...form].map(([name, value]): [string, string] => [
    name,
    typeof value === 'string' ? value : '',
  ])
  return new URLSearchParams(fields)
}
