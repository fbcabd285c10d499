// Hands what an operation prepared on to its act, beside the input and not in it: the action log writes the input down.

export type Prepared<T> = {
  put<I extends object>(input: I, made: T): I
  take(input: object): T
}

export function prepared<T>(): Prepared<T> {
  const made = new WeakMap<object, { of: T }>()
  return {
    put: (input, of) => {
      const handed = { ...input }
      made.set(handed, { of })
      return handed
    },
    take: (input) => {
      const found = made.get(input)
      if (!found) throw new Error('the operation was not prepared')
      return found.of
    },
  }
}
