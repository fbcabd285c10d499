import { GuardedFault } from './fault.ts'

// Services that take orders line by line: an HTTP request with chosen lines in it would be understood by them.
const deniedPorts = new Set([
  0, 7, 9, 19, 21, 22, 23, 25, 53, 110, 111, 119, 135, 139, 143, 161, 389, 445, 465, 514, 587, 636, 873, 993,
  995, 1433, 2049, 2525, 3306, 3389, 5432, 6379, 11211, 27017,
])

/** Reads the address of a request. Numbers in other bases and the like are made plain by the URL parser here. */
export function readTarget(text: string): URL {
  // The parser drops line breaks and tabs silently; what a person wrote does not have them.
  if (/[\s\p{Cc}]/u.test(text) || !URL.canParse(text)) {
    throw new GuardedFault('invalid_url', 'the address is not a valid URL')
  }
  const url = new URL(text)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new GuardedFault('invalid_url', 'only http and https addresses are allowed')
  }
  if (url.username !== '' || url.password !== '') {
    throw new GuardedFault('invalid_url', 'the address must not hold a user name or a password')
  }
  const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80))
  if (deniedPorts.has(port)) throw new GuardedFault('blocked', `port ${port} is not allowed`)
  return url
}
