// Which domains can be declared: one answer for the act and for all that advises it.
import { getDomain } from 'tldts'
import type { Action } from '../../kernel/refusal.ts'
import { invalidParameter } from '../../kernel/refusals.ts'
import { isMailboxProvider } from './mailbox-providers.ts'
import { normalName, readName } from './name.ts'

type Obstacle = { message: string; hint?: string }

/** Why nobody can declare it; undefined: it can be declared. */
export function obstacleTo(given: string): Obstacle | undefined {
  const name = normalName(given)
  if (name === undefined) return { message: 'It is no public domain name such as mail.example.com.' }
  if (isMailboxProvider(name))
    return {
      message: `${name} belongs to its provider, and only mail from there is signed for it.`,
      hint: 'Declare a domain of your own, and name the address in reply_to.',
    }
  if (getDomain(name) === null)
    return {
      message: `${name} is a public suffix, below which anybody may have a domain.`,
      hint: `Declare your own, such as yours.${name}`,
    }
  return undefined
}

export function readNewName(given: string, param = 'domain'): string {
  const name = readName(given, param)
  const obstacle = obstacleTo(name)
  if (obstacle) throw invalidParameter({ ...obstacle, param })
  return name
}

/** Undefined where it would be refused. */
export function declaring(domain: string): Action | undefined {
  if (obstacleTo(domain)) return undefined
  return {
    operation: 'domain.declare',
    method: 'POST',
    path: '/api/v1/domains',
    scope: 'domain.write',
    body: { domain },
  }
}
