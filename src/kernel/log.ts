import { type Logger, pino } from 'pino'

export type Log = Logger

/** On standard error: standard output is for what a command was asked to print. */
export function openLog(level: string): Log {
  // Asynchronous writes: a burst of lines shares one system call, and nothing is held back when idle.
  return pino({ level, base: undefined, timestamp: stampMaker() }, pino.destination({ dest: 2, sync: false }))
}

export const silentLog: Log = pino({ level: 'silent' })

// Lines of one millisecond share their time stamp: making it is a good part of what a line costs.
function stampMaker(): () => string {
  let [ms, stamp] = [0, '']
  return () => {
    const now = Date.now()
    if (now !== ms) [ms, stamp] = [now, `,"time":"${new Date(now).toISOString()}"`]
    return stamp
  }
}
