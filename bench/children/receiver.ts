// A receiver of webhooks: prints its port, answers 200, and nothing at all under /dead.
// GET /rate?warm=N&count=M answers when M more calls have come: how many a second since the Nth.
// GET /latency answers with the median time, in ms, from event to call since the last time, and how many there were.
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { median } from '../measure.ts'

let wanted = { warm: 0, count: 0, answer: (_rate: number) => {} }
let [came, warmAt] = [0, 0]
let latencies: number[] = []

function count(text: string): void {
  const at = /"ts_epoch":(\d+)/.exec(text)?.[1]
  if (at !== undefined) latencies.push(Date.now() - Number(at))
  came++
  if (came === wanted.warm) warmAt = performance.now()
  if (came === wanted.count) wanted.answer((came - wanted.warm) / ((performance.now() - warmAt) / 1000))
}

function answer(url: URL, response: ServerResponse): void {
  const json = (value: object) => response.end(JSON.stringify(value))
  if (url.pathname === '/latency') {
    json({ median: median(latencies), count: latencies.length })
    latencies = []
    return
  }
  came = 0
  const asked = (name: string) => Number(url.searchParams.get(name))
  wanted = { warm: asked('warm'), count: asked('count'), answer: (rate) => json({ rate }) }
}

const server = createServer((request, response) => {
  const url = new URL(request.url ?? '', 'http://receiver')
  if (request.method === 'GET') return answer(url, response)
  let text = ''
  request.setEncoding('utf8')
  request.on('data', (chunk) => {
    text += chunk
  })
  request.on('end', () => {
    if (url.pathname === '/dead') return
    count(text)
    response.writeHead(200, { 'content-length': 2 }).end('ok')
  })
})
server.keepAliveTimeout = 60_000
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(`${(server.address() as AddressInfo).port}\n`)
})
