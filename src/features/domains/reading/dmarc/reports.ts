import { normalDomain } from '../../../../kernel/email-address.ts'
import type { Dns } from '../../../../kernel/ports.ts'
import type { Remark } from '../reading.ts'
import type { DmarcRecord } from './parse.ts'

const mostAsked = 5

/** Addresses outside of the organisation get reports only where their domain agrees (RFC 9990 §4). */
export async function unauthorisedReports(
  dns: Dns,
  { rua }: DmarcRecord,
  domain: string,
  organisation: string,
): Promise<Remark[]> {
  const outside = [...new Set(rua.flatMap(targetOf))].filter(
    (target) => !`.${target}`.endsWith(`.${organisation}`),
  )
  const refused = await Promise.all(
    outside.slice(0, mostAsked).map(async (target) => {
      const host = `${domain}._report._dmarc.${target}`
      const answer = await dns.txt(host)
      const agrees =
        answer === 'unreadable' || (Array.isArray(answer) && answer.some((text) => /^v=DMARC1\b/.test(text)))
      return agrees ? [] : [`${target} does not agree to get reports: ${host} has no TXT record v=DMARC1.`]
    }),
  )
  return refused.flat().map((message) => ({ code: 'report_not_authorised', message }))
}

function targetOf(uri: string): string[] {
  const [address = ''] = uri.toLowerCase().startsWith('mailto:') ? uri.slice('mailto:'.length).split('!') : []
  const target = normalDomain(address.slice(address.lastIndexOf('@') + 1))
  return address.includes('@') && target !== undefined ? [target] : []
}
