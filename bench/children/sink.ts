// An SMTP sink of its own process; prints its port.
import { openSink } from '../../test/faults/sink.ts'

const { port } = await openSink(() => {})
process.stdout.write(`${port}\n`)
