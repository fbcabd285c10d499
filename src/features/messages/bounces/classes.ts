/**
 * Why a message was not taken. What decides is not the number of the reply but whose fault it is:
 * - the address is dead: `unknown_user`, `bad_address`, `inactive`, `moved`, `unknown_host`, `no_mail_host`
 * - the mailbox or the road to it has trouble: `mailbox_full`, `greylisted`, `temporary`, `network`
 * - we or the sender are not welcome: `blocked`, `policy`, `auth`, `rate`, `sender`, `credentials`
 * - this very message is not welcome: `content`, `size`
 * - `suppressed`: the upstream did not even try; `other`: nobody can tell
 */
export type BounceClass =
  | 'unknown_user'
  | 'bad_address'
  | 'inactive'
  | 'moved'
  | 'unknown_host'
  | 'no_mail_host'
  | 'mailbox_full'
  | 'greylisted'
  | 'temporary'
  | 'network'
  | 'blocked'
  | 'policy'
  | 'auth'
  | 'rate'
  | 'sender'
  | 'credentials'
  | 'content'
  | 'size'
  | 'suppressed'
  | 'other'

export type BounceVerdict = {
  class: BounceClass
  /** `hard` only where the address is dead. A permanent refusal of our message is still soft. */
  bounceType: 'hard' | 'soft'
  /** The address must not be written to again. */
  suppresses: boolean
  /** Trying this message again is of no use. */
  isPermanent: boolean
  /** Whether it counts towards `softBounceLimit`: a refusal of us or of the message says nothing of the address. */
  countsToLimit: boolean
  /** One sentence for people. */
  reason: string
}

type Meaning = { isDead?: true; counts?: true; reason: string }

const meanings: Record<BounceClass, Meaning> = {
  unknown_user: { isDead: true, reason: 'The mailbox does not exist.' },
  bad_address: { isDead: true, reason: 'The address is not valid.' },
  inactive: { isDead: true, reason: 'The mailbox is closed or disabled.' },
  moved: { isDead: true, reason: 'The mailbox has moved or changed its owner.' },
  unknown_host: { isDead: true, reason: 'The domain of the address does not exist.' },
  no_mail_host: { isDead: true, reason: 'The domain of the address accepts no mail.' },
  mailbox_full: { counts: true, reason: 'The mailbox is full.' },
  greylisted: { counts: true, reason: 'The receiving server asks to try again later.' },
  temporary: { counts: true, reason: 'The receiving server could not take the message for the time being.' },
  network: { counts: true, reason: 'The receiving server could not be reached.' },
  blocked: {
    reason: 'The receiving server blocks the sending address or network, or takes the message for spam.',
  },
  policy: { reason: 'The receiving server refuses the message by its policy.' },
  auth: { reason: 'The sender domain failed the authentication that the receiving server asks for.' },
  rate: { reason: 'The receiving server limits how much it takes from this sender.' },
  sender: { reason: 'The receiving server does not accept the sender address.' },
  credentials: { reason: 'The upstream refused our login.' },
  content: { reason: 'The receiving server refuses the content of the message.' },
  size: { reason: 'The message is too large for the receiving server.' },
  suppressed: { reason: 'The upstream has the address on its suppression list and did not send.' },
  other: { counts: true, reason: 'The receiving server refused the message without a known reason.' },
}

export function isDeadAddress(name: BounceClass): boolean {
  return meanings[name].isDead === true
}

/** `isDead` may take the hardness away from a class where the evidence is too thin for it. */
export function verdict(
  name: BounceClass,
  isPermanent: boolean,
  isDead = isDeadAddress(name),
): BounceVerdict {
  const { counts, reason } = meanings[name]
  const isSoftEvidence = isDeadAddress(name) && !isDead
  return {
    class: name,
    bounceType: isDead ? 'hard' : 'soft',
    suppresses: isDead,
    isPermanent,
    countsToLimit: counts === true || isSoftEvidence,
    reason,
  }
}
