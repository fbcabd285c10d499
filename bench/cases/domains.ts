// Verifying a domain takes as long as its slowest answer: all questions are under way at once.
import dns2 from 'dns2'
import type { Figure } from '../figure.ts'
import { median } from '../measure.ts'
import { benchKey, startDatabase, startService } from '../start.ts'

const domain = 'bench.example'
const rounds = 20
const usualMs = 100
const slowestMs = 300
const allowedMs = 50

type Published = { role: string; host: string; value: string }

async function post(url: string): Promise<{ status: string; records: Published[] }> {
  const headers = { 'api-key': benchKey, 'content-type': 'application/json' }
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify({ domain }) })
  if (!response.ok) throw new Error(`${url} answered ${response.status}`)
  return response.json() as Promise<{ status: string; records: Published[] }>
}

async function verifyMs(url: string): Promise<number> {
  const started = performance.now()
  const { status } = await post(`${url}/api/v1/domains/verify`)
  if (status !== 'verified') throw new Error(`the domain is ${status}`)
  return performance.now() - started
}

type Answers = Map<string, { text: string; afterMs: number }>

/** Answers texts, each after its time; whatever else is asked for is not there. */
async function startDns(answers: Answers): Promise<{ address: string; close(): void }> {
  const server = dns2.createUDPServer((request, send) => {
    const response = dns2.Packet.createResponseFromRequest(request)
    const [{ name, type } = { name: '', type: 0 }] = request.questions
    const found = type === dns2.Packet.TYPE.TXT ? answers.get(name.toLowerCase()) : undefined
    if (found) response.answers.push({ name, type, class: 1, ttl: 60, data: stringsOf(found.text) } as never)
    else response.header.rcode = noSuchName
    setTimeout(() => send(response), found?.afterMs ?? 0)
  })
  await server.listen(0, '127.0.0.1')
  return { address: `127.0.0.1:${server.address().port}`, close: () => server.close() }
}

const noSuchName = 3
const stringsOf = (text: string) => text.match(/.{1,255}/g)?.map((part) => Buffer.from(part)) ?? []

async function figureOf(url: string): Promise<Figure> {
  for (let warmUp = 0; warmUp < 3; warmUp++) await verifyMs(url)
  const times: number[] = []
  for (let round = 0; round < rounds; round++) times.push(await verifyMs(url))
  const measured = median(times)
  return {
    name: 'verifying a domain, ms',
    anchor: 'its slowest answer of DNS',
    measured,
    anchorMeasured: slowestMs,
    ratio: measured / slowestMs,
    wanted: 0,
    atMost: Number(((slowestMs + allowedMs) / slowestMs).toFixed(2)),
  }
}

export async function benchDomains(): Promise<Figure[]> {
  const answers: Answers = new Map([
    ['spf.bench.example', { text: 'v=spf1 ip4:192.0.2.1 -all', afterMs: usualMs }],
  ])
  const dns = await startDns(answers)
  const database = await startDatabase()
  const env = {
    POSTHORN_DNS: dns.address,
    POSTHORN_SPF_INCLUDE: 'spf.bench.example',
    POSTHORN_SECRET_KEY: '5'.repeat(64),
  }
  const service = await startService(database.url, ['--role', 'api'], env)
  try {
    const { records } = await post(`${service.url}/api/v1/domains`)
    for (const { role, host, value } of records)
      answers.set(host, { text: value, afterMs: role === 'verification' ? slowestMs : usualMs })
    return [await figureOf(service.url)]
  } finally {
    await service.stop()
    await database.stop()
    dns.close()
  }
}
