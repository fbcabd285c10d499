// The eleven public holidays of metropolitan France (Code du travail, L3133-1), declared here and nowhere else.

const fixed: Record<string, string> = {
  '01-01': "New Year's Day",
  '05-01': 'Labour Day',
  '05-08': 'Victory Day',
  '07-14': 'the National Day',
  '08-15': 'Assumption Day',
  '11-01': "All Saints' Day",
  '11-11': 'Armistice Day',
  '12-25': 'Christmas Day',
}

// By the number of days after Easter Sunday.
const movable: [number, string][] = [
  [1, 'Easter Monday'],
  [39, 'Ascension Day'],
  [50, 'Whit Monday'],
]

/** The name of the holiday that a day such as 2026-05-14 is. */
export function holidayOn(day: string): string | undefined {
  const sinceEaster = (Date.parse(day) - easter(Number(day.slice(0, 4)))) / 86_400_000
  return fixed[day.slice(5)] ?? movable.find(([days]) => days === sinceEaster)?.[1]
}

/** Easter Sunday of the Gregorian calendar, after Meeus, as midnight UTC. */
function easter(year: number): number {
  const [a, b, c] = [year % 19, Math.floor(year / 100), year % 100]
  const d = b - Math.floor(b / 4) - Math.floor((b - Math.floor((b + 8) / 25) + 1) / 3)
  const moon = (19 * a + d + 15) % 30
  const weekday = (32 + 2 * (b % 4) + 2 * Math.floor(c / 4) - moon - (c % 4)) % 7
  const correction = Math.floor((a + 11 * moon + 22 * weekday) / 451)
  const days = moon + weekday - 7 * correction + 114
  return Date.UTC(year, Math.floor(days / 31) - 1, (days % 31) + 1)
}
