// OUTCOME@simulator.posthorn.test acts out what its name says, through the same path as a real upstream.
import type { Outcome, Said } from '../../kernel/ports.ts'
import { classifyReply } from './bounces/classify-reply.ts'

export const simulatorDomain = 'simulator.posthorn.test'

const said = (smtpCode: number, enhancedCode: string, message: string): Said => ({
  smtpCode,
  enhancedCode,
  message,
})

export const simulated = {
  hardBounce: said(550, '5.1.1', '550 5.1.1 The mailbox does not exist (simulated)'),
  softBounce: said(452, '4.2.2', '452 4.2.2 The mailbox is full (simulated)'),
  rejected: said(554, '5.7.1', '554 5.7.1 Refused by policy (simulated)'),
  deferred: said(451, '4.7.1', '451 4.7.1 Try again later (simulated)'),
}

export type Act =
  | 'success'
  | 'hard-bounce'
  | 'soft-bounce'
  | 'complaint'
  | 'defer'
  | 'reject'
  | 'open'
  | 'click'
  | 'robot'
  | 'proxy'

const acts: Act[] = [
  'success',
  'hard-bounce',
  'soft-bounce',
  'complaint',
  'defer',
  'reject',
  'open',
  'click',
  'robot',
  'proxy',
]

const atSimulator = `@${simulatorDomain}`

/** The act named by an address of the simulator; unknown names succeed. */
export function actOf(recipient: string): Act | undefined {
  if (!recipient.endsWith(atSimulator)) return undefined
  const [name] = recipient.slice(0, -atSimulator.length).split('+')
  return acts.find((act) => act === name) ?? 'success'
}

/** What the simulated upstream says at hand-over. */
export function simulatedOutcome(act: Act, attempts: number): Outcome {
  if (act === 'reject') return { kind: 'rejected', ...simulated.rejected }
  if (act === 'defer' && attempts <= 2) return { kind: 'deferred', fault: 'message', ...simulated.deferred }
  return { kind: 'accepted', upstreamId: null, response: '250 2.0.0 simulated' }
}

export const simulatedVerdicts = {
  hard: classifyReply(simulated.hardBounce),
  soft: classifyReply(simulated.softBounce),
}
