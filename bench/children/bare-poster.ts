// The HTTP client alone, posting one body again and again: bare-poster.ts URL COUNT BODY.
import { Agent } from 'undici'

const [url = '', count = '0', body = ''] = process.argv.slice(2)
const { origin, pathname } = new URL(url)
const loops = 32
const agent = new Agent({ connections: loops })
let left = Number(count)

async function loop(): Promise<void> {
  while (left-- > 0) {
    const headers = { 'content-type': 'application/json' }
    const answer = await agent.request({ origin, path: pathname, method: 'POST', headers, body })
    await answer.body.dump()
    if (answer.statusCode !== 200) throw new Error(`it answered ${answer.statusCode}`)
  }
}

await Promise.all(Array.from({ length: loops }, loop))
await agent.close()
