import { type LogFn, type Logger, pino } from 'pino'
import { openSink } from './log-sink.ts'
import { isDatabaseDown } from './refusals.ts'

export type Log = Logger

/** On standard error: standard output is for what a command was asked to print. */
export function openLog(level: string): Log {
  const sink = openSink(2)
  process.on('exit', () => sink.flushLast())
  return pino({ level, base: undefined, timestamp: stampMaker(), hooks: outageHook() }, sink)
}

const outageToldEveryMs = 60_000

/** While the database is away everything that needs it fails, again and again: one line a minute says it all. */
export function outageHook(): { logMethod(this: Log, args: Parameters<LogFn>, method: LogFn): void } {
  let toldAt = Number.NEGATIVE_INFINITY
  return {
    logMethod(args, method) {
      const [about] = args as unknown[]
      const isOutage =
        typeof about === 'object' && about !== null && 'err' in about && isDatabaseDown(about.err)
      if (isOutage && performance.now() - toldAt < outageToldEveryMs) return
      if (isOutage) toldAt = performance.now()
      method.apply(this, args)
    },
  }
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
