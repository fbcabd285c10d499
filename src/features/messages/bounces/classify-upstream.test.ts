import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { classifyUpstreamBounce, type UpstreamBounce } from './classify-upstream.ts'

type Case = [title: string, bounce: UpstreamBounce, expected: string]

const ses = (bounceType: 'Permanent' | 'Transient' | 'Undetermined', bounceSubType: string, more = {}) => ({
  provider: 'ses' as const,
  bounceType,
  bounceSubType,
  ...more,
})

const blocked = {
  diagnosticCode: 'smtp; 550 5.7.1 Client host [192.0.2.1] blocked using Spamhaus',
  status: '5.7.1',
}
const unknown = { diagnosticCode: 'smtp; 550 5.1.1 user unknown', status: '5.1.1' }

// class, bounce type, whether it suppresses, status
const cases: Case[] = [
  ['no such mailbox', ses('Permanent', 'NoEmail'), 'unknown_user hard true failed'],
  ['a permanent bounce without a reply', ses('Permanent', 'General'), 'unknown_user hard true failed'],
  [
    'a permanent bounce with its reply',
    ses('Permanent', 'General', unknown),
    'unknown_user hard true failed',
  ],
  [
    'a reply without codes',
    ses('Permanent', 'General', { diagnosticCode: 'user unknown' }),
    'unknown_user hard true failed',
  ],
  ['a refusal that SES calls permanent', ses('Permanent', 'General', blocked), 'blocked soft false failed'],
  ['the global list of SES', ses('Permanent', 'Suppressed'), 'suppressed hard true suppressed'],
  [
    'the list of our account',
    ses('Permanent', 'OnAccountSuppressionList'),
    'suppressed hard true suppressed',
  ],
  ['trouble', ses('Transient', 'General'), 'temporary soft false failed'],
  ['trouble with a reply', ses('Transient', 'General', { status: '4.4.7' }), 'network soft false failed'],
  ['trouble that sounds dead', ses('Transient', 'General', unknown), 'temporary soft false failed'],
  ['a full mailbox', ses('Transient', 'MailboxFull'), 'mailbox_full soft false failed'],
  ['a large message', ses('Transient', 'MessageTooLarge'), 'size soft false failed'],
  ['content', ses('Transient', 'ContentRejected'), 'content soft false failed'],
  ['an attachment', ses('Transient', 'AttachmentRejected'), 'content soft false failed'],
  ['a bounce that SES does not understand', ses('Undetermined', 'Undetermined'), 'other soft false failed'],
  [
    'TEM: no mailbox',
    { provider: 'scaleway', flags: ['mailbox_not_found'] },
    'unknown_user hard true failed',
  ],
  [
    'TEM: hard',
    { provider: 'scaleway', flags: ['hard_bounce'], ...unknown },
    'unknown_user hard true failed',
  ],
  [
    'TEM: hard, but blocked',
    { provider: 'scaleway', flags: ['hard_bounce'], ...blocked },
    'blocked soft false failed',
  ],
  [
    'TEM: full',
    { provider: 'scaleway', flags: ['soft_bounce', 'mailbox_full'] },
    'mailbox_full soft false failed',
  ],
  ['TEM: spam', { provider: 'scaleway', flags: ['spam'] }, 'blocked soft false failed'],
  ['TEM: on its list', { provider: 'scaleway', flags: ['blocklisted'] }, 'suppressed hard true suppressed'],
  ['a word for soft', { provider: 'generic', kind: 'softBounce' }, 'temporary soft false failed'],
  ['a word for hard', { provider: 'generic', kind: 'hard_bounce' }, 'unknown_user hard true failed'],
  ['an unknown word', { provider: 'generic', kind: 'whatever' }, 'temporary soft false failed'],
]

describe('an upstream reports', () => {
  for (const [title, bounce, expected] of cases)
    test(title, () => {
      const found = classifyUpstreamBounce(bounce)
      assert.equal([found.class, found.bounceType, found.suppresses, found.status].join(' '), expected)
      assert.equal(found.isPermanent, true)
      assert.equal(found.origin, found.status === 'suppressed' ? 'upstream' : 'recipient')
    })
})
