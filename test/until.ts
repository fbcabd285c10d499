// Waiting for something that happens elsewhere: asked again and again, with an end.
export async function until<T>(
  ask: () => Promise<T | undefined | false>,
  what: string,
  ms = 30_000,
): Promise<T> {
  const deadline = performance.now() + ms
  while (performance.now() < deadline) {
    const found = await ask()
    if (found !== undefined && found !== false) return found
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  throw new Error(`gave up waiting for ${what}`)
}
