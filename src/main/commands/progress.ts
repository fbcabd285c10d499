// How far long work has come, on standard error.
const barWidth = 30

type Terminal = { isTTY?: boolean; write(text: string): unknown }

/** A bar that is drawn again and again on a terminal; lines elsewhere. */
export function progressOn(to: Terminal) {
  const isBar = to.isTTY === true
  const clear = () => isBar && to.write('\r\x1b[K')
  return {
    onProgress(kind: string, done: number, total: number) {
      if (!isBar) return void to.write(`${kind}: ${done} of ${total}\n`)
      const filled = Math.round((barWidth * Math.min(done, total)) / Math.max(total, 1))
      clear()
      to.write(`${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)} ${kind} ${done} of ${total}`)
    },
    note(text: string) {
      clear()
      to.write(`${text.replaceAll(/\p{Cc}/gu, ' ')}\n`)
    },
    end: clear,
  }
}
