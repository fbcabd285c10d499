import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Activity, type ActivityHit, classifyActivity } from './classify.ts'

const deliveredAt = new Date('2026-05-20T08:00:00Z')
const seconds = (count: number) => new Date(deliveredAt.getTime() + count * 1000)
const chrome =
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Safari/537.36'

const hit = (change: Partial<ActivityHit>): ActivityHit => ({
  kind: 'open',
  userAgent: chrome,
  ip: '198.51.100.7',
  method: 'GET',
  headers: {},
  at: seconds(600),
  sentAt: deliveredAt,
  deliveredAt,
  ...change,
})

const said = ({ classification, reason }: Activity) => `${classification} ${reason}`

type Sample = [userAgent: string, open: string, click: string]

const agents: Sample[] = [
  [chrome, 'human ordinary', 'human ordinary'],
  ['Mozilla/5.0', 'privacy_proxy apple_mail_privacy', 'robot robot_user_agent'],
  [
    'Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)',
    'human google_image_proxy',
    'robot robot_user_agent',
  ],
  [
    'YahooMailProxy; https://help.yahoo.com/kb/yahoo-mail-proxy-SLN28749.html',
    'human yahoo_image_proxy',
    'robot robot_user_agent',
  ],
  [
    'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/42.0.2311.135 ' +
      'Safari/537.36 Edge/12.246 Mozilla/5.0',
    'privacy_proxy gmail_prefetch',
    'human ordinary',
  ],
  [
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148',
    'human ordinary',
    'human ordinary',
  ],
  [
    'Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko)',
    'human ordinary',
    'human ordinary',
  ],
  [
    'Mozilla/5.0 (X11; Linux x86_64; rv:126.0) Gecko/20100101 Firefox/126.0',
    'human ordinary',
    'human ordinary',
  ],
  [
    'Mozilla/5.0 (X11; Linux x86_64; rv:115.0) Gecko/20100101 Thunderbird/115.3.1',
    'human mail_client',
    'human mail_client',
  ],
  ['Mozilla/4.0 (compatible; ms-office; MSOffice 16)', 'human mail_client', 'human mail_client'],
  [
    'Microsoft Office/16.0 (Windows NT 10.0; Microsoft Outlook 16.0.4266; Pro)',
    'human mail_client',
    'human mail_client',
  ],
  [
    'Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 10.0; WOW64; Trident/7.0; .NET4.0C; Microsoft Outlook 16.0.5134)',
    'human mail_client',
    'human mail_client',
  ],
  ['Outlook-iOS/723.4027091.prod.iphone (4.28.0)', 'human mail_client', 'human mail_client'],
  ['Outlook-Android/2.0', 'human mail_client', 'human mail_client'],
  [
    'MacOutlook/16.78.23100802 (Intelx64 Mac OS X Version 13.5.2 (Build 22G91))',
    'human mail_client',
    'human mail_client',
  ],
  ['SamsungEmail/6.1', 'human mail_client', 'human mail_client'],
  ['K-9 Mail for Android', 'human mail_client', 'human mail_client'],
  ['eM Client/9.2.2093', 'human mail_client', 'human mail_client'],
  ['Mail/3774.600.62 CFNetwork/1490.0.4 Darwin/23.2.0', 'human ordinary', 'human ordinary'],
  ['', 'robot empty_user_agent', 'robot empty_user_agent'],
  ['   ', 'robot empty_user_agent', 'robot empty_user_agent'],
  ['curl/8.5.0', 'robot robot_user_agent', 'robot robot_user_agent'],
  ['python-requests/2.31.0', 'robot robot_user_agent', 'robot robot_user_agent'],
  ['Go-http-client/2.0', 'robot robot_user_agent', 'robot robot_user_agent'],
  ['okhttp/4.10.0', 'robot robot_user_agent', 'robot robot_user_agent'],
  ['AHC/2.1', 'robot robot_user_agent', 'robot robot_user_agent'],
  [
    'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
    'robot robot_user_agent',
    'robot robot_user_agent',
  ],
  [
    'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)',
    'robot robot_user_agent',
    'robot robot_user_agent',
  ],
  [
    'Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)',
    'robot robot_user_agent',
    'robot robot_user_agent',
  ],
  [`${chrome.replace('Chrome/', 'HeadlessChrome/')}`, 'robot robot_user_agent', 'robot robot_user_agent'],
  ['Barracuda Sentinel (EE)', 'robot security_scanner', 'robot security_scanner'],
  ['Mozilla/5.0 (compatible; Proofpoint URL Defense)', 'robot security_scanner', 'robot security_scanner'],
  ['Mozilla/5.0 (compatible; Mimecast)', 'robot security_scanner', 'robot security_scanner'],
  ['Mozilla/5.0 (compatible; Zscaler)', 'robot security_scanner', 'robot security_scanner'],
  ['Symantec Email Security.cloud', 'robot security_scanner', 'robot security_scanner'],
]

describe('by its name alone', () => {
  for (const [userAgent, open, click] of agents)
    test(userAgent || '(none)', () => {
      assert.equal(said(classifyActivity(hit({ userAgent }))), open)
      assert.equal(said(classifyActivity(hit({ userAgent, kind: 'click' }))), click)
    })
})

test('a request without a name is a machine', () => {
  assert.equal(said(classifyActivity(hit({ userAgent: undefined }))), 'robot empty_user_agent')
})

test('a request that shows nothing to anyone does not count, whoever makes it', () => {
  const proxy = 'Firefox/11.0 (via ggpht.com GoogleImageProxy)'
  for (const method of ['HEAD', 'OPTIONS', 'head', 'POST'])
    assert.equal(said(classifyActivity(hit({ method, userAgent: proxy }))), 'robot method_not_get')
})

test('loading ahead is a machine', () => {
  const ahead: Record<string, string>[] = [
    { purpose: 'prefetch' },
    { 'sec-purpose': 'prefetch;prerender' },
    { 'x-moz': 'prefetch' },
    { 'x-purpose': 'preview' },
  ]
  for (const headers of ahead) assert.equal(said(classifyActivity(hit({ headers }))), 'robot prefetch_header')
})

test('nobody opens within two seconds of delivery, or clicks within five', () => {
  const at = (kind: 'open' | 'click', after: number) =>
    said(classifyActivity(hit({ kind, at: seconds(after) })))
  assert.equal(at('open', 1.9), 'robot too_soon_after_delivery')
  assert.equal(at('open', 2), 'human ordinary')
  assert.equal(at('click', 4.9), 'robot too_soon_after_delivery')
  assert.equal(at('click', 5), 'human ordinary')
  assert.equal(at('click', -3), 'robot before_delivery')
  assert.equal(at('open', -3), 'robot before_delivery')
})

test('without a known delivery, the sending counts', () => {
  const unknown = { deliveredAt: null, kind: 'click' as const }
  assert.equal(said(classifyActivity(hit({ ...unknown, at: seconds(1) }))), 'robot too_soon_after_delivery')
  assert.equal(said(classifyActivity(hit({ ...unknown, sentAt: null, at: seconds(1) }))), 'human ordinary')
})

test('an image proxy of people may be fast', () => {
  const userAgent = 'Mozilla/5.0 (via ggpht.com GoogleImageProxy)'
  assert.equal(said(classifyActivity(hit({ userAgent, at: seconds(1) }))), 'human google_image_proxy')
})

test('several different links within a second are a machine', () => {
  const clicks = (recentClicks: number) => said(classifyActivity(hit({ kind: 'click', recentClicks })))
  assert.equal(clicks(1), 'human ordinary')
  assert.equal(clicks(2), 'robot many_links_at_once')
})

test('a click from a network of scanners is a machine for a minute', () => {
  const from = (ip: string, after: number, kind: 'open' | 'click' = 'click') =>
    said(classifyActivity(hit({ kind, ip, at: seconds(after) })))
  assert.equal(from('40.94.1.2', 30), 'human ordinary')
  assert.equal(from('104.47.12.5', 30), 'robot scanner_network')
  assert.equal(from('::ffff:74.125.1.1', 30), 'robot scanner_network')
  assert.equal(from('104.47.12.5', 90), 'human ordinary')
  assert.equal(from('104.47.12.5', 30, 'open'), 'human ordinary')
  assert.equal(from('2001:db8::1', 30), 'human ordinary')
  assert.equal(from('not an address', 30), 'human ordinary')
})

test('a click through a rewriting gateway is a person', () => {
  const headers = { referer: 'https://eur02.safelinks.protection.outlook.com/' }
  assert.equal(said(classifyActivity(hit({ kind: 'click', headers }))), 'human link_gateway')
})

test("Apple's relay speaks for opens, not for clicks", () => {
  const networks = { isPrivateRelay: (ip: string) => ip === '172.224.1.1' }
  const ip = '::ffff:172.224.1.1'
  assert.equal(said(classifyActivity(hit({ ip }), networks)), 'privacy_proxy apple_private_relay')
  assert.equal(said(classifyActivity(hit({ ip, kind: 'click' }), networks)), 'human ordinary')
})
