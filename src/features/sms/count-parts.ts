// How many SMS a text is: 140 octets each, in GSM-7 when every character is in it, in UCS-2 otherwise.

export type Encoding = 'gsm7' | 'ucs2'
export type Counted = { encoding: Encoding; units: number; parts: number }

// 3GPP TS 23.038, the default alphabet and its extension, whose characters are an escape and another character.
const basic = new Set(
  '@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !"#¤%&\'()*+,-./0123456789:;<=>?' +
    '¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà',
)
const extended = new Set('\f^{}\\[~]|€')

// Alone, and with the six octets that put parts together again (TS 23.040).
const sizes = { gsm7: { alone: 160, each: 153 }, ucs2: { alone: 70, each: 67 } }

export function countParts(text: string): Counted {
  const characters = [...text]
  const encoding = characters.every((one) => basic.has(one) || extended.has(one)) ? 'gsm7' : 'ucs2'
  const costs = characters.map((one) => (encoding === 'ucs2' ? one.length : extended.has(one) ? 2 : 1))
  const units = costs.reduce((sum, cost) => sum + cost, 0)
  const { alone, each } = sizes[encoding]
  return { encoding, units, parts: units <= alone ? 1 : filled(costs, each) }
}

/** A character of two units stands whole in the next part when only one unit is left. */
function filled(costs: number[], each: number): number {
  let [parts, used] = [1, 0]
  for (const cost of costs) {
    if (used + cost > each) [parts, used] = [parts + 1, 0]
    used += cost
  }
  return parts
}
