import { type LogFn, type Logger, pino } from 'pino'
import { openSink } from './log-sink.ts'
import { isDatabaseDown } from './refusals.ts'

export type Log = Logger

/** On standard error: standard output is for what a command was asked to print. */
export function openLog(level: string): Log {
  const sink = openSink(2)
  process.on('exit', () => sink.flushLast())
  const options = { base: undefined, timestamp: stampMaker(), hooks: outageHook(), serializers }
  return pino({ level, ...options }, sink)
}

// Of a value that it does not take the database shows the row: a person's data, which a log would keep for ever.
const refusedValue = /^2[23]/

export const serializers = {
  err(error: unknown) {
    if (!(error instanceof Error)) return error
    const { detail, ...shown } = pino.stdSerializers.err(error)
    return refusedValue.test(String(shown.code)) ? shown : { ...shown, detail }
  },
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
