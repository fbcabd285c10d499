import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

// Below the ports that systems hand out by themselves: until a test listens on it, or does so again after a restart,
// no call of another test goes out from it.
const [first, end] = [12_000, 32_000]
const mostTries = 20

/** A port that a test listens on later, perhaps several times. */
export async function sparePort(): Promise<number> {
  for (let tries = 1; tries <= mostTries; tries++) {
    const port = randomInt(first, end)
    if (await isFree(port)) return port
  }
  throw new Error(`no free port from ${first} to ${end}`)
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
