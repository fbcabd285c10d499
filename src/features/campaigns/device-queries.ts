// What mail was read with, told by the program that fetched the pixel or followed the link. The first rule that fits
// counts. Where a mailbox provider's proxy stood between, only the provider is known.
import { type Sql, sql } from '../../kernel/sql.ts'

type Rules = [name: string, pattern: string][]

const proxies = 'image_?proxy|mailproxy'

const devices: Rules = [
  ['unknown', proxies],
  ['tablet', 'ipad|tablet|kindle|silk/|playbook|android(?!.*mobile)'],
  ['mobile', 'mobile|iphone|ipod|android|windows phone|blackberry|opera mini'],
  ['desktop', 'windows|macintosh|mac os|x11|linux|cros|outlook|thunderbird'],
]

const systems: Rules = [
  ['unknown', proxies],
  ['iOS', 'iphone|ipad|ipod'],
  ['Android', 'android|silk/'],
  ['Windows', 'windows|outlook'],
  ['macOS', 'macintosh|mac os'],
  ['Chrome OS', 'cros'],
  ['Linux', 'linux|x11'],
]

const browsers: Rules = [
  ['Gmail', 'google_?image_?proxy'],
  ['Yahoo Mail', 'yahoo_?(image_?|mail)proxy'],
  ['Outlook', 'outlook|msoffice|ms-office'],
  ['Thunderbird', 'thunderbird'],
  ['Edge', 'edg(e|a|ios)?/'],
  ['Opera', 'opr/|opera'],
  ['Samsung Internet', 'samsungbrowser'],
  ['Firefox', 'firefox|fxios'],
  ['Chrome', 'chrome|crios|chromium'],
  ['Internet Explorer', 'msie|trident'],
  ['Safari', 'safari/'],
  // Its own program sends the engine's name and no browser's.
  ['Apple Mail', '(macintosh|iphone|ipad|ipod).*applewebkit'],
]

function firstOf(rules: Rules): Sql {
  const whens = rules.reduce(
    (all, [name, pattern]) => sql`${all} when p.program ~* ${pattern} then ${name}::text`,
    sql``,
  )
  return sql`case ${whens} else 'unknown' end`
}

/** Of a program under the name p: the device and its system, with a blank between. */
export const deviceOf = sql`${firstOf(devices)} || ' ' || ${firstOf(systems)}`
export const browserOf = firstOf(browsers)
