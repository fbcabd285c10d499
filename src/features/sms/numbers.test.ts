import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Refusal } from '../../kernel/refusal.ts'
import { readRecipient, readSender } from './numbers.ts'
import { isStop, withStop } from './stop.ts'

const recipient = (text: string) => {
  try {
    return readRecipient(text).digits
  } catch (error) {
    assert.ok(error instanceof Refusal)
    return error.told.param
  }
}

test('a number is normalised to the digits of E.164', () => {
  for (const text of ['33612345678', '+33612345678', '0033612345678', '+33 6 12 34 56 78', '+33(0)612345678'])
    assert.equal(recipient(text), '33612345678', text)
  assert.equal(recipient('+33 7 51 23 45 67'), '33751234567')
  assert.equal(recipient('+14155552671'), '14155552671')
  assert.equal(recipient('+447911123456'), '447911123456')
  assert.equal(recipient('+590690123456'), '590690123456')
})

test('landlines, special and impossible numbers are refused', () => {
  const landlines = ['+33123456789', '+33912345678', '+33800123456', '+442079460958', '+590590123456']
  const impossible = [
    '0612345678',
    '+3361234567',
    '+336123456789',
    '36111',
    'x',
    '',
    ' ',
    '+',
    '\0',
    '9'.repeat(400),
  ]
  for (const text of [...landlines, ...impossible]) assert.equal(recipient(text), 'recipient', text)
})

const sender = (text: string, to = '+33612345678') => {
  try {
    return readSender(text, readRecipient(to))
  } catch (error) {
    assert.ok(error instanceof Refusal)
    return error.told.param === 'sender' ? 'refused' : ''
  }
}

test('a sender is a name; in France it has a letter and says who writes', () => {
  for (const name of ['MyShop', 'A', '3Suisses', 'abcdefghijk']) assert.equal(sender(name), name)
  for (const name of [
    '',
    'abcdefghijkl',
    'My Shop',
    'Café',
    'My-Shop',
    '38400',
    '+33612345678',
    'RDV',
    'alert',
  ])
    assert.equal(sender(name), 'refused', name)
  for (const name of ['MyShop', '38400', '123456789012345', '+14155550100', 'alert'])
    assert.equal(sender(name, '+14155552671'), name)
  for (const name of ['1234567890123456', 'abcdefghijkl', 'é'])
    assert.equal(sender(name, '+14155552671'), 'refused', name)
})

test('the way out is added where there is none', () => {
  const stop = { text: 'STOP 36111', byUpstream: false }
  assert.equal(withStop('Sale!', stop).content, 'Sale!\nSTOP 36111')
  for (const content of ['Sale! STOP 36222', 'Sale! STOP au 36 222', 'Sale! stop: 36222'])
    assert.equal(withStop(content, stop).content, content)
  assert.match(withStop('Non-stop sale, 50 % off', stop).content, /STOP 36111$/)
  const spoken = [
    'Sale! STOP SMS 36180',
    'Sale!\nSTOP: 36 111',
    'Stop pub au 36111.',
    'Sale!STOP=36111',
    'STOP>36111',
  ]
  for (const content of spoken) assert.equal(withStop(content, stop).content, content)
  for (const content of [
    'Braderie ! Boutique ouverte non-stop, 75011 Paris',
    'Appelez-nous non-stop au 01 23 45 67 89',
    'Ouvert non stop au 36 111 rue X',
    'Nonstop 36111',
    'Non stop 36111',
    'Stopper 36111',
    'One-stop 36111',
    'STOP 75011 Paris',
    'STOP 361112',
    'Stop aux prix fous: 36 111 articles',
    'STOP: 36 990 €',
  ])
    assert.equal(withStop(content, stop).content, `${content}\nSTOP 36111`)
  const own = { text: 'STOP au (0) 38-12', byUpstream: false }
  assert.equal(withStop('Sale! stop au (0) 38-12', own).content, 'Sale! stop au (0) 38-12')
  assert.match(withStop('Non-stop au (0) 38-12', own).content, /\n/)
  const byUpstream = withStop('Sale! STOP 36222', { text: 'STOP 36111', byUpstream: true })
  assert.deepEqual(byUpstream, { content: 'Sale! STOP 36222', shown: 'Sale! STOP 36222\nSTOP 36111' })
})

test('which replies take their sender off', () => {
  for (const reply of [
    'STOP',
    'stop',
    ' Stop. ',
    'STOPSMS',
    'ARRET',
    'Arrêt svp',
    '"stop"',
    'STOP 36111',
    'STOP36111',
  ])
    assert.ok(isStop(reply), reply)
  for (const reply of ['', 'Merci', 'nonstop', 'stopover', 'stop4you', 'Do not stop', 'ARRETER'])
    assert.ok(!isStop(reply), reply)
})
