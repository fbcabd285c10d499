/** The known word closest to a mistyped one, or undefined when none is close enough to be meant. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const typed = word.slice(0, 64).toLowerCase()
  const plain = typed.replaceAll(/[^a-z0-9]/g, '')
  const ranked = known
    .map((candidate) => {
      const lower = candidate.toLowerCase()
      const same = lower.replaceAll(/[^a-z0-9]/g, '') === plain
      return { candidate, distance: same ? 0 : editDistance(typed, lower) }
    })
    .sort((a, b) => a.distance - b.distance)
  const best = ranked[0]
  if (!best) return undefined
  const tolerated = Math.max(1, Math.floor(Math.min(typed.length, best.candidate.length) / 3))
  return best.distance <= tolerated ? best.candidate : undefined
}

/** Two neighbouring letters in the wrong order are one mistake. */
function editDistance(a: string, b: string): number {
  let [before, previous] = [[] as number[], Array.from({ length: b.length + 1 }, (_, j) => j)]
  for (let i = 1; i <= a.length; i++) {
    const current = [i]
    for (let j = 1; j <= b.length; j++) {
      const other = (previous[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1)
      const isSwapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      const swapped = isSwapped ? (before[j - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY
      current[j] = Math.min(other, swapped, (previous[j] ?? 0) + 1, (current[j - 1] ?? 0) + 1)
    }
    ;[before, previous] = [previous, current]
  }
  return previous[b.length] ?? 0
}
