export type Turns = {
  isFull(): boolean
  enter(): void
  leave(): void
  /** When the next one leaves. */
  freed(): Promise<void>
}

/** So many at a time. */
export function openTurns(most: number): Turns {
  let taken = 0
  let tell = () => {}
  let freed = new Promise<void>((resolve) => {
    tell = resolve
  })
  return {
    isFull: () => taken >= most,
    enter() {
      taken++
    },
    leave() {
      taken--
      tell()
      freed = new Promise((resolve) => {
        tell = resolve
      })
    },
    freed: () => freed,
  }
}
